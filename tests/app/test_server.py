"""What the server refuses, and that nothing that is sent to it makes it stumble."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from base64 import b64encode
from html import unescape
from pathlib import Path
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest

from libragrad.app import Limits
from tests.app.visitor import mosaic_file
from tests.cli.running import MOSAIC, words

TCP = Path("/proc/net/tcp")
API = "/gradio_api"


def status(server, path, headers=(), method="POST", body=b""):
    """What the server answers; headers as they are, and nothing that they do not say."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest(method, path)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders(body or None)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def events(server):
    """The events of the page by their targets: ("upload", "upload") → number."""
    with urlopen(f"{server.address}/config", timeout=30) as answer:
        config = json.load(answer)
    names = {c["id"]: c["props"].get("elem_id") for c in config["components"]}
    return {
        (names.get(target), event): (dependency["id"], target, len(dependency["inputs"]))
        for dependency in config["dependencies"]
        for target, event in dependency["targets"]
    }


def send(server, event, data=(), sent=None):
    """Trigger an event as a browser does, in a new session; return all that comes back."""
    number, target, inputs = events(server)[event]
    session = uuid4().hex
    body = {
        "data": [*data, *[None] * (inputs - len(data))],
        "event_data": sent,
        "fn_index": number,
        "trigger_id": target,
        "session_hash": session,
    }
    join = Request(
        f"{server.address}{API}/queue/join",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    urlopen(join, timeout=30).close()
    with urlopen(f"{server.address}{API}/queue/data?session_hash={session}", timeout=60) as lines:
        for line in lines:
            message = json.loads(line.removeprefix(b"data: ")) if line.strip() else {}
            if message.get("msg") in ("process_generating", "process_completed"):
                yield message


def last(server, event, data=(), sent=None):
    messages = list(send(server, event, data, sent))
    return unescape(json.dumps([m["output"] for m in messages], ensure_ascii=False))


OPTIONS = (["fullgrad+"], "Libra", "logit", "paper", "method")


@pytest.mark.skipif(not TCP.exists(), reason="the kernel does not tell who listens")
def test_it_listens_to_this_machine_alone(server):
    port = f":{server.port:04X}"
    rows = [line.split() for line in TCP.read_text().splitlines()[1:]]
    assert {row[1] for row in rows if row[1].endswith(port) and row[3] == "0A"} == {
        f"0100007F{port}"
    }


def test_a_large_request_is_refused_before_it_is_read(server):
    much = str(Limits().body_bytes + 1)
    path = f"{API}/queue/join"
    assert status(server, path, [("Content-Length", much)])[0] == 413
    assert status(server, path, [("Content-Length", "many")])[0] in (400, 413)
    chunked = [("Transfer-Encoding", "chunked")]
    assert status(server, path, chunked, body=b"0\r\n\r\n") == (
        411,
        "a request must say its length",
    )


def test_no_file_is_taken_and_none_is_given(server):
    form = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\n\r\nab\r\n--x--'
    )
    headers = [
        ("Content-Type", "multipart/form-data; boundary=x"),
        ("Content-Length", str(len(form))),
    ]
    assert status(server, f"{API}/upload", headers, body=form)[0] == 413
    for path in ("/etc/passwd", str(Path(__file__)), "pyproject.toml"):
        assert status(server, f"{API}/file={path}", method="GET")[0] in (403, 404)


PLACES = {
    "path": {"path": "/etc/passwd"},
    "address": {"url": "http://127.0.0.1:9/a.png"},
    "file": {
        "name": "a.png",
        "data": {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}},
    },
    "link": {
        "name": "a.png",
        "data": {"path": "http://127.0.0.1:9/a", "meta": {"_type": "gradio.FileData"}},
    },
}


@pytest.mark.parametrize("sent", PLACES.values(), ids=PLACES.keys())
def test_a_path_or_an_address_is_no_picture(server, sent):
    said = last(server, ("upload", "upload"), (None, *OPTIONS), sent)
    # The first is the page's own; Gradio refuses what looks like a file before it comes so far.
    assert "has over 20,000,000 bytes" in said or "is not in the cache folder" in said


def test_an_address_as_text_is_no_picture(server):
    sent = {"name": "a.png", "data": "http://127.0.0.1:9/a.png"}
    said = last(server, ("upload", "upload"), (None, *OPTIONS), sent)
    assert "a.png did not arrive whole" in said


NONSENSE: tuple[object, ...] = (
    None,
    True,
    -1,
    1e300,
    "",
    "x" * 10_000,
    [],
    [[]],
    {},
    {"a": None},
    [None],
    "\x00",
)


@pytest.mark.parametrize("event", [("upload", "upload"), ("upload", "select"), ("maps", "input")])
def test_nonsense_in_an_event_is_answered_with_a_sentence(server, event):
    for value in NONSENSE:
        for sent in (value, dict.fromkeys(("name", "data", "example", "patches"), value)):
            data = (None, *OPTIONS)
            assert 'role=\\"alert\\"' in last(server, event, data, sent), (event, sent)


CONTROLS = [("explain", "click"), ("another", "submit"), ("methods", "input"), ("recipe", "input")]


@pytest.mark.parametrize("event", [*CONTROLS, ("save-png", "click")])
def test_nonsense_in_the_controls_is_answered(server, event):
    for value in NONSENSE:
        messages = list(send(server, event, [None] + [value] * (events(server)[event][2] - 1)))
        assert messages[-1]["msg"] == "process_completed"
        assert messages[-1]["success"], (event, value)
        assert "Traceback" not in json.dumps(messages)


@pytest.mark.parametrize("place", range(5))
def test_an_option_that_does_not_exist_is_named(server, place):
    options = [*OPTIONS]
    options[place] = ["genat"] if place == 0 else "genat"
    content = b64encode(mosaic_file(0)).decode()
    said = last(server, ("upload", "upload"), (None, *options), {"name": "a.png", "data": content})
    what = ("method", "preset", "output", "recipe", "scale")[place]
    assert f"no {what} 'genat': choose one of " in said


def test_a_port_that_is_taken_is_named(server):
    again = [sys.executable, "-m", "libragrad", "app", *MOSAIC, "--port", str(server.port)]
    refused = subprocess.run(again, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    expected = f"nobody can listen at 127.0.0.1, port {server.port}: it is taken"
    assert expected in words(refused.stderr)
    assert "Traceback" not in refused.stderr
