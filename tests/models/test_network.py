"""Lost connections are told from other errors, and cost no time."""

import io
from email.message import Message
from itertools import pairwise
from urllib.error import HTTPError, URLError

import pytest

from libragrad.errors import LibraGradError, ModelError
from libragrad.models import network


def chained(*errors):
    """The last of `errors`, each raised from the one before."""
    for cause, error in pairwise(errors):
        error.__cause__ = cause
    return errors[-1]


LocalEntryNotFoundError = type("LocalEntryNotFoundError", (Exception,), {})


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (URLError("no name"), True),
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (LocalEntryNotFoundError(), True),
        (chained(ConnectionRefusedError(), OSError("try again"), RuntimeError("failed")), True),
        (HTTPError("http://a", 404, "not found", Message(), io.BytesIO()), False),
        (RuntimeError("shapes differ"), False),
    ],
)
def test_which_errors_are_lost_connections(error, lost):
    assert network.unreachable(error) is lost


def fetch(error):
    with network.online("the weights of x", "give a file", ModelError):
        raise error


def test_a_lost_connection_is_one_sentence():
    with pytest.raises(ModelError) as raised:
        fetch(ConnectionError())
    assert str(raised.value) == (
        "the weights of x are not on this machine, and the network cannot be reached: give a file"
    )
    assert isinstance(raised.value, LibraGradError)


def test_another_error_is_left_alone():
    with pytest.raises(ZeroDivisionError):
        fetch(ZeroDivisionError())


@pytest.mark.parametrize("there", [True, False])
def test_without_network_the_hub_is_not_tried(monkeypatch, there):
    constants = pytest.importorskip("huggingface_hub.constants")
    before = constants.HF_HUB_OFFLINE
    monkeypatch.setattr(network, "has_network", lambda: there)
    with network.online("x", "y"):
        assert constants.HF_HUB_OFFLINE is (before or not there)
    assert constants.HF_HUB_OFFLINE is before


def test_a_name_without_an_address_is_no_network(monkeypatch):
    asked = []

    def lookup(host, port):
        asked.append((host, port))
        raise OSError("no address")

    monkeypatch.setattr(network, "getproxies", dict)
    monkeypatch.setattr("socket.getaddrinfo", lookup)
    assert not network.has_network("models.example")
    assert asked == [("models.example", 443)]
    monkeypatch.setattr(network, "getproxies", lambda: {"https": "http://proxy"})
    assert network.has_network("models.example")
