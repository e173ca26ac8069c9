"""A pytest plugin that points the tests of a client library at the server under test.

Loaded by run.py. The tests contain the address localhost:3000, and Mastodon.py's contain access tokens: connections go
to the port of the server instead, and tokens are replaced. CLIENTS_LIVE holds the arguments, as JSON.
"""

import functools
import json
import os
import socket
import subprocess

LIVE = json.loads(os.environ["CLIENTS_LIVE"])


def pytest_configure():
    redirect_connections()
    if "words" in LIVE:
        replace_credentials(LIVE["words"])
    if LIVE.get("confirm_sign_ups"):
        confirm_sign_ups()


def redirect_connections():
    resolve = socket.getaddrinfo

    def getaddrinfo(host, port, *arguments, **named):
        if (host, port) == ("localhost", 3000):
            host, port = "127.0.0.1", LIVE["port"]
        return resolve(host, port, *arguments, **named)

    socket.getaddrinfo = getaddrinfo


def replace_credentials(words):
    """Replaces the arguments of Mastodon.py's constructor that are in `words`."""
    from mastodon import Mastodon

    initialise = Mastodon.__init__

    def replaced(value):
        return words.get(value, value) if isinstance(value, str) else value

    @functools.wraps(initialise)
    def init(self, *arguments, **named):
        initialise(self, *map(replaced, arguments), **{name: replaced(value) for name, value in named.items()})

    Mastodon.__init__ = init


def confirm_sign_ups():
    """Confirms the e-mail address of every account that toot registers: its tests use the token immediately."""
    from toot import api

    register = api.register_account

    def register_account(app, username, *arguments, **named):
        response = register(app, username, *arguments, **named)
        command = [LIVE["program"], "--json", "user", "approve", username]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
        return response

    api.register_account = register_account
