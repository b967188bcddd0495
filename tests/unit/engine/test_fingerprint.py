"""A server suits a run, or the difference is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ematix_flow.engine.server.fingerprint import Fingerprint
from ematix_flow.engine.spark.classic_conf import ClassicConf

SERVER = Fingerprint(
    ematix_flow="1",
    pyspark="4.1.4",
    python="3.11.7 (/v/bin/python)",
    java="17.0.15 (/jvm)",
    conf="abc",
    extensions=("A", "B"),
    jars={"a.jar": "1", "b.jar": "2"},
    additions={"k": "v"},
)


@pytest.mark.proves("warm-server")
def test_the_same_suits():
    assert SERVER.differences(SERVER) == ()
    assert SERVER.differences(Fingerprint.from_json(SERVER.to_json())) == ()


def test_a_run_may_need_fewer_connectors_than_the_server_has():
    wanted = replace(SERVER, extensions=(), jars={"a.jar": "1"}, additions={})
    assert SERVER.differences(wanted) == ()


@pytest.mark.proves("warm-server")
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ematix_flow": "2"}, "ematix-flow is 1, not 2"),
        ({"pyspark": "4.1.5"}, "pyspark is 4.1.4, not 4.1.5"),
        ({"python": "3.12"}, "Python is 3.11.7"),
        ({"java": "21"}, "Java is 17.0.15"),
        ({"conf": "x"}, "start-up settings changed"),
        ({"jars": {"c.jar": "3"}}, "connectors"),
        ({"jars": {"a.jar": "other"}}, "jars changed"),
        ({"extensions": ("C",)}, "connectors"),
        ({"additions": {"k": "w"}}, "connectors"),
    ],
)
def test_a_difference_is_named(changed, said):
    (difference,) = SERVER.differences(replace(SERVER, **changed))
    assert said in difference


def test_a_state_file_of_another_version_differs_instead_of_breaking():
    assert len(Fingerprint.from_json({}).differences(SERVER)) == 6


def conf(values: dict[str, str], **more) -> ClassicConf:
    return ClassicConf(master="local[*]", values=values, session={}, **more)


def test_a_conf_serves_what_needs_less_than_it():
    big = conf(
        {
            "spark.jars": "/a,/b,/mine",
            "spark.sql.extensions": "A,B",
            "k": "v",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-Dx=1 -XX:SharedArchiveFile=/f -Xshare:auto",
        },
        jars={"/a": "1", "/b": "2"},
        additions={"k": "v"},
    )
    small = conf(
        {
            "spark.jars": "/a,/mine",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-Dx=1",
        },
        jars={"/a": "1"},
    )
    assert big.serves(small)
    assert not small.serves(big)


@pytest.mark.parametrize(
    "changed",
    [{"spark.driver.memory": "2g"}, {"spark.jars": "/theirs"}, {"spark.sql.extensions": "C"}],
)
def test_a_conf_does_not_serve_another_start(changed):
    plain = {"spark.driver.memory": "1g"}
    assert not conf(plain).serves(conf({**plain, **changed}))
