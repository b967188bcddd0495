import re

import pytest

from ematix_flow import errors
from ematix_flow.errors import FlowError, UnknownName, located


def all_errors(root=FlowError):
    yield root
    for child in root.__subclasses__():
        yield from all_errors(child)


@pytest.mark.proves("mistakes-told")
def test_a_message_says_what_where_and_what_to_do():
    error = FlowError("it broke", where="pipelines.py:7", details="  evidence", hint="mend it")
    assert str(error) == "pipelines.py:7: it broke\n  evidence\nHint: mend it"


@pytest.mark.proves("mistakes-told")
def test_an_unknown_name_lists_what_is_known_and_guesses():
    error = UnknownName.among("pipeline", "lod", ["load", "other"], hint="`flow list`")
    assert str(error) == (
        "unknown pipeline 'lod'; did you mean 'load'? (known: load, other)\nHint: `flow list`"
    )
    assert isinstance(error, KeyError)


def test_an_unknown_name_among_nothing_says_so():
    assert "none are declared" in str(UnknownName.among("pipeline", "x", []))


@pytest.mark.parametrize("error", list(all_errors()), ids=lambda cls: cls.__name__)
def test_every_error_is_documented_in_the_tree(error):
    assert error.__name__ in errors.__doc__
    assert error.__doc__
    assert error.exit_code in (1, 2, 3, 4)


@pytest.mark.proves("retryable")
def test_the_tree_says_of_every_error_whether_trying_again_helps():
    drawn = re.findall(r"^[│├└─ ]*(\w+) {2,}.*?(\(retryable\))?$", errors.__doc__, re.MULTILINE)
    found = {error.__name__: error.retryable for error in all_errors()}
    assert {name: bool(note) for name, note in drawn} == found


def test_an_error_without_a_place_gets_one_and_keeps_its_own():
    with pytest.raises(FlowError, match=r"^a.py:1: x") as caught, located("a.py:1"):
        raise FlowError("x")
    assert caught.value.where == "a.py:1"
    with pytest.raises(FlowError, match=r"^b.py:2: x"), located("a.py:1"):
        raise FlowError("x", where="b.py:2")
