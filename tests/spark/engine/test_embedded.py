"""The embedded Spark: its defaults, its isolation, its silence, and that nothing stays behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.engine.scripts import Scene, play

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads /proc")

CODE = """
import signal, subprocess
from ematix_flow.engine.spark.archive import archive_path
from ematix_flow.engine.spark.progress import watch

# A class archive that is no archive: the run must not notice.
archive = archive_path(find_java())
archive.parent.mkdir(parents=True)
archive.write_bytes(b"not an archive")

with engine() as opened:
    session = opened.session
    seen["report"] = opened.report.to_json()
    seen["conf"] = {key: session.conf.get(key) for key in SIZING.conf()}
    seen["listening"] = listening()
    seen["app"] = session.sparkContext.applicationId
    session.range(3).createOrReplaceTempView("mine")
    other = opened.new_session()
    other.conf.set("spark.sql.shuffle.partitions", "77")
    seen["isolated"] = [
        other.catalog.tableExists("mine"), session.conf.get("spark.sql.shuffle.partitions")]
    seen["now"] = str(session.sql("SELECT timestamp'2024-01-01 00:00:00' t").collect()[0])

    steps = []
    with watch(session, steps.append) as can_watch:
        from pyspark.sql import functions as F
        from pyspark.sql.types import LongType
        slow = F.udf(lambda n: time.sleep(1.0) or n, LongType())
        session.range(0, 4, 1, 4).select(slow("id")).collect()
    seen["progress"] = [can_watch, len(steps) > 0, steps[-1].total_tasks if steps else 0]

with engine(sizing=size(SMALL, 1000, {"spark.sql.shuffle.partitions": "5"})) as opened:
    seen["second"] = [
        opened.session.sparkContext.applicationId,
        opened.session.conf.get("spark.sql.shuffle.partitions"),
        opened.session.catalog.tableExists("mine"),
    ]

    owned = opened.session
    before = {row.key: row.value for row in owned.sql("SET").collect()}
    lent = borrow(owned)
    seen["borrowed"] = lent.report.mode, lent.session.range(2).count()
    lent.session.conf.set("spark.sql.shuffle.partitions", "3")
    seen["untouched"] = {row.key: row.value for row in owned.sql("SET").collect()} == before

secret = {"spark.hadoop.fs.s3a.secret.key": "canary-4716", "spark.driver.memory": "1100m"}
os.environ["PYSPARK_SUBMIT_ARGS"] = "--version"  # spark-submit would print it, and end
with engine(sizing=size(SMALL, 1000, secret)) as opened:
    jvm = opened.session.sparkContext._gateway.proc.pid
    hadoop = opened.session.sparkContext._jsc.hadoopConfiguration()
    seen["secret"] = [
        "canary" in Path(f"/proc/{jvm}/cmdline").read_text(), hadoop.get("fs.s3a.secret.key")]
    seen["restarted"] = [
        opened.session.sparkContext.applicationId != seen["app"], opened.session.range(3).count()]

close_embedded()
close_embedded()
seen["interrupt"] = signal.getsignal(signal.SIGINT) is signal.default_int_handler
seen["children"] = subprocess.run(
    ["ps", "-o", "comm=", "--ppid", str(os.getpid())], capture_output=True, text=True
).stdout.split()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("embedded")


@pytest.fixture(scope="module")
def scene(folder: Path) -> Scene:
    (folder / "cwd").mkdir()
    cache = str(folder / "cache")
    return play(CODE, folder / "state", cwd=folder / "cwd", EMATIX_FLOW_CACHE=cache)


def test_the_report_says_what_it_is(scene):
    report = scene.seen["report"]
    assert report["engine"] == "local"
    assert report["mode"] == "embedded"
    assert report["address"] == "local[2]"
    assert report["java"].startswith(("Java 17", "Java 21"))
    assert report["notes"] == []


@pytest.mark.proves("sizing")
def test_the_session_has_the_settings_that_explain_shows(scene):
    conf = scene.seen["conf"]
    assert conf["spark.sql.session.timeZone"] == "UTC"
    assert conf["spark.sql.ansi.enabled"] == "true"
    assert conf["spark.sql.shuffle.partitions"] == "2"
    assert conf["spark.ui.enabled"] == "false"
    assert conf["spark.driver.memory"] == "1024m"


def test_it_listens_on_loopback_only(scene):
    assert scene.seen["listening"] == ["127.0.0.1"]


def test_sessions_share_nothing(scene):
    assert scene.seen["isolated"] == [False, "2"]


def test_progress_is_seen(scene):
    assert scene.seen["progress"] == [True, True, 4]


@pytest.mark.proves("sizing")
def test_the_next_run_reuses_it_in_a_session_of_its_own(scene):
    assert scene.seen["second"] == [scene.seen["app"], "5", False]


def test_other_start_up_settings_start_it_anew(scene):
    assert scene.seen["restarted"] == [True, 3]


@pytest.mark.proves("no-secret")
def test_a_secret_reaches_spark_but_not_the_command_line(scene):
    assert scene.seen["secret"] == [False, "canary-4716"]


def test_ctrl_c_stays_as_it_was(scene):
    assert scene.seen["interrupt"]


@pytest.mark.proves("borrowed-session")
def test_a_borrowed_session_is_left_as_it_is(scene):
    assert scene.seen["borrowed"] == ["borrowed", 2]
    assert scene.seen["untouched"]


def test_the_terminal_stays_quiet_and_the_log_has_the_noise(scene, folder):
    assert scene.noise == ""
    assert (folder / "state" / "logs" / "spark.log").stat().st_size > 0


def test_nothing_stays_behind(scene, folder):
    assert "java" not in scene.seen["children"]
    assert list((folder / "cwd").iterdir()) == []
