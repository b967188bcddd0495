"""The heartbeat, with a scripted passing of time."""

import threading
from datetime import timedelta

import pytest

from ematix_flow.errors import FenceLost, TargetUnreachable
from ematix_flow.write.heartbeat import Heartbeat

TTL = timedelta(seconds=60)


class Script:
    """Renewals that end as told, and pauses that end at once."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.waited = []
        self.told = []

    def pause(self, seconds):
        self.waited.append(seconds)
        return not self.answers

    def renew(self):
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer

    def heartbeat(self):
        return Heartbeat(renew=self.renew, ttl=TTL, notice=self.told.append, pause=self.pause)


def test_it_renews_every_third_of_the_lease_until_it_is_stopped():
    script = Script(None, None)
    heartbeat = script.heartbeat()
    heartbeat.beat()
    assert script.waited == [20.0, 20.0, 20.0]
    heartbeat.require()
    assert script.told == []


def test_a_renewal_that_fails_is_told_and_tried_again():
    script = Script(TargetUnreachable("the network is down"), None)
    heartbeat = script.heartbeat()
    heartbeat.beat()
    assert script.told == [
        "the lease could not be renewed (the network is down); trying again",
    ]
    heartbeat.require()


def test_who_was_taken_over_stops_at_once():
    script = Script(None, FenceLost("another run took over"), None)
    heartbeat = script.heartbeat()
    heartbeat.beat()
    assert script.answers == [None], "it went on renewing a lease that is another's"
    with pytest.raises(FenceLost, match="another run took over"):
        heartbeat.require()


def test_it_beats_in_a_thread_of_its_own_and_ends_with_the_block():
    renewed = threading.Event()
    ttl = timedelta(milliseconds=3)
    heartbeat = Heartbeat(renew=renewed.set, ttl=ttl, notice=print)
    with heartbeat.beating():
        assert renewed.wait(timeout=30)
        beating = [each for each in threading.enumerate() if each.name == "flow-heartbeat"]
        assert len(beating) == 1
    assert not beating[0].is_alive()
