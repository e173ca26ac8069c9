#!/usr/bin/env python3
"""Runs the tests of Mastodon client libraries against a server.

    tests/clients/run.py [SUITE…]

Reached from `make clients`. SERVER_PROGRAM names the server program. Each suite has a server with a fresh data folder
on a free port. The suites run at the same time, since they wait more than they work. The logs are in target/clients.

The tests of toot and Mastodon.py are in their source packages, and run unchanged. masto and megalodon are published
without tests: masto.mjs and megalodon.mjs are ours. EXPECTED lists the cases that fail, with reasons. The exit status
is 1 when the results differ from it.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import html
import http.cookiejar
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.parse
import urllib.request
import xml.etree.ElementTree
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOLS = ROOT / "target/tools/clients"
PYTHON = TOOLS / "python/bin/python"
NODE = TOOLS / "python/bin/node"
LOGS = ROOT / "target/clients"
PROGRAM = ROOT / os.environ.get("SERVER_PROGRAM", "target/release/rookery")

START_SECONDS = 180
SET_UP_SECONDS = 900
SUITES_SECONDS = 1800
CASE_SECONDS = 60
# Some of Mastodon.py's tests wait for a minute.
PYTHON_CASE_SECONDS = 180
SCOPES = "read write follow push profile"
ADMIN_SCOPES = "read write follow push admin:read admin:write"
OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
PR_SET_PDEATHSIG = 1
SECRET_KEY = secrets.token_hex(32)

# Files of tests that only replay recorded responses of other servers.
MASTODON_PY_IGNORED = ["tests/test_entities.py"]


def say(text):
    print(text, file=sys.stderr, flush=True)


def die(text):
    sys.exit(f"clients: {text}")


# ---- Tools ----------------------------------------------------------------------------------------------------------


def set_up():
    """Installs the locked packages into target/tools/clients, unless they are there."""
    TOOLS.mkdir(parents=True, exist_ok=True)
    with open(TOOLS / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        once("python", ["requirements.txt", "sources.txt"], set_up_python)
        once("node", ["package.json", "package-lock.json"], set_up_node)


def once(name, files, install):
    digest = hashlib.sha256(b"".join((HERE / file).read_bytes() for file in files)).hexdigest()
    stamp = TOOLS / f".{name}"
    if stamp.exists() and stamp.read_text() == digest:
        return
    say(f"clients: installing the packages of {', '.join(files)}")
    install()
    stamp.write_text(digest)


def set_up_python():
    """Also downloads the source packages, whose metadata is built with the installed packages."""
    for folder in ("python", "sources"):
        shutil.rmtree(TOOLS / folder, ignore_errors=True)
    if sys.version_info < (3, 11):
        die("Python 3.11 or newer is needed.")
    if subprocess.run([sys.executable, "-m", "venv", TOOLS / "python"]).returncode != 0:
        die("There is no Python with venv. On Debian: apt-get install python3-venv")
    pip = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    install(pip + ["install", "--require-hashes", "-r", HERE / "requirements.txt"])
    download = ["download", "--require-hashes", "--no-deps", "--no-build-isolation", "--no-binary", ":all:"]
    install(pip + download + ["-d", TOOLS / "sources", "-r", HERE / "sources.txt"])


def set_up_node():
    """The lock file names no registry: `npm install --package-lock-only --omit-lockfile-registry-resolved` writes it."""
    folder = TOOLS / "node"
    folder.mkdir(exist_ok=True)
    for file in ("package.json", "package-lock.json"):
        shutil.copy(HERE / file, folder)
    npm = ["npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    install(npm, env=with_path(PYTHON.parent))


def install(command, **options):
    if subprocess.run(command, stdout=sys.stderr, timeout=SET_UP_SECONDS, **options).returncode != 0:
        die(f"{command[0]} could not install the packages; see above.")


def with_path(folder, **variables):
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **variables}


# ---- Processes ------------------------------------------------------------------------------------------------------


def start(command, log, **options):
    """Starts a process in a group of its own, which is killed when this one ends in any way."""
    libc = ctypes.CDLL(None)
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL), **options,
    )


def stop(process):
    """Ends a process, and after ten seconds kills its group."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server with a data folder of its own, below `folder`."""

    def __init__(self, name, folder, domain=None):
        self.port = free_port()
        self.domain = domain or f"localhost:{self.port}"
        self.data = folder / name
        self.log = LOGS / f"{name}-server.log"
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("ROOKERY_")},
            "ROOKERY_SERVER_LOCAL_DOMAIN": self.domain,
            "ROOKERY_SERVER_LISTEN": f"127.0.0.1:{self.port}",
            "ROOKERY_SERVER_SHUTDOWN_GRACE_SECONDS": "2",
            "ROOKERY_STREAMING_RESTART_SECONDS": "0",
            "ROOKERY_RATE_LIMITS_ENABLED": "false",
            "ROOKERY_STORAGE_DATA_DIR": str(self.data),
            # Shared, so that the plugins are compiled once. The key signs them.
            "ROOKERY_PLUGINS_CACHE_DIR": str(folder / "plugin-cache"),
            "ROOKERY_SECRETS_KEY": SECRET_KEY,
            "ROOKERY_MEDIA_FFMPEG": str(ROOT / "target/tools/bin/ffmpeg"),
            "ROOKERY_MEDIA_FFPROBE": str(ROOT / "target/tools/bin/ffprobe"),
            "ROOKERY_MAIL_TRANSPORT": "none",
        }

    def __enter__(self):
        self.data.mkdir(parents=True)
        self.cli("db", "migrate")
        self.cli("settings", "set", "registrations_mode", "open")
        # A folder without rookery.toml.
        with open(self.log, "w") as log:
            self.process = start([PROGRAM, "serve"], log, cwd=self.data, env=self.environment)
        try:
            self.wait_until_ready()
        except BaseException:
            stop(self.process)
            raise
        return self

    def __exit__(self, *_):
        stop(self.process)

    def wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError), self.open("/readyz"):
                return
            time.sleep(0.1)
        die(f"the server did not start; see {self.log}")

    def open(self, path, fields=None, token=None, method=None, opener=urllib.request.build_opener()):
        """Sends a request; raises for a status above 299."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        request.add_header("Host", self.domain)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        if fields is not None:
            request.data = urllib.parse.urlencode(fields).encode()
        return opener.open(request, timeout=30)

    def json(self, *arguments, **options):
        with self.open(*arguments, **options) as response:
            return json.load(response)

    def cli(self, *arguments, lines=None):
        """Runs `rookery --json …` and returns its output, one value per line."""
        text = None if lines is None else "\n".join(map(json.dumps, lines))
        run = subprocess.run(
            [PROGRAM, "--json", *arguments], cwd=self.data, env=self.environment, input=text,
            stdout=subprocess.PIPE, text=True, timeout=120,
        )
        if run.returncode != 0:
            die(f"rookery {' '.join(arguments)} failed: {run.stdout}")
        return run.stdout.splitlines()

    def create_users(self, *users):
        """Creates users given as objects for `rookery user create --stdin`."""
        return [json.loads(line) for line in self.cli("user", "create", "--stdin", lines=users)]

    def authorize(self, app, email, password, scopes):
        """Returns an access token that the user grants to the app in a browser."""
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        browser = urllib.request.build_opener(cookies)
        fields = {"client_id": app["client_id"], "redirect_uri": OUT_OF_BAND, "scope": scopes}
        query = urllib.parse.urlencode({**fields, "response_type": "code"})
        query = urllib.parse.urlencode({"next": f"/oauth/authorize?{query}"})
        with self.open(f"/auth/sign_in?{query}", opener=browser) as page:
            form = hidden_fields(page)
        with self.open("/auth/sign_in", {**form, "email": email, "password": password}, opener=browser) as page:
            form = hidden_fields(page)
        with self.open("/oauth/authorize", {**form, "decision": "authorise"}, opener=browser) as page:
            code = urllib.parse.parse_qs(urllib.parse.urlsplit(page.url).query)["code"][0]
        grant = {"grant_type": "authorization_code", "code": code, "client_secret": app["client_secret"], **fields}
        return self.json("/oauth/token", grant)["access_token"]


def hidden_fields(page):
    """The hidden fields of the first form of a page."""
    form = page.read().decode().split("</form>")[0]
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in fields}


# ---- Suites ---------------------------------------------------------------------------------------------------------


def unpack(package, folder):
    """Unpacks a source package, and returns its folder."""
    (archive,) = (TOOLS / "sources").glob(f"{package}-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@dataclass
class Tests:
    """The command that runs the tests of a suite, and writes JUnit XML to report.xml in `folder`."""

    command: list
    folder: Path
    environment: dict


@contextlib.contextmanager
def running(name, tests):
    with open(LOGS / f"{name}.log", "w") as log:
        process = start(tests.command, log, cwd=tests.folder, env=tests.environment)
    try:
        yield process
    finally:
        stop(process)


def is_finished(process, deadline):
    """Waits for the tests to end. At the deadline, an interrupt lets them write the results so far."""
    try:
        process.wait(max(0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        return False
    return True


def read_outcomes(folder):
    """The outcomes by case."""
    try:
        report = xml.etree.ElementTree.parse(folder / "report.xml")
    except (OSError, xml.etree.ElementTree.ParseError):
        return {}
    return {case_name(case): Outcome.of(case) for case in report.iter("testcase")}


def case_name(case):
    """`test_polls::test_vote` for pytest, the bare name for Node."""
    module = case.get("classname", "").rpartition(".")[2]
    return f"{module}::{case.get('name')}" if module.startswith("test_") else case.get("name")


def pytest(server, folder, tests, options, **live):
    """pytest with the plugin live.py, whose arguments are `live`."""
    live = {"port": server.port, "program": str(PROGRAM), **live}
    environment = {
        **server.environment, "CLIENTS_LIVE": json.dumps(live), "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(folder),
    }
    command = [
        PYTHON, "-m", "pytest", "-p", "live", f"--timeout={PYTHON_CASE_SECONDS}", "-rf", "--tb=short",
        "--junitxml=report.xml", *options, *tests,
    ]
    return Tests(command, folder, environment)


def toot(server, folder):
    folder = unpack("toot", folder)
    server.environment["TOOT_TEST_BASE_URL"] = "http://localhost:3000"
    return pytest(server, folder, ["tests/integration"], [], confirm_sign_ups=True)


def mastodon_py(server, folder):
    """Records new cassettes, as its authors do, with the accounts of its tests/setup.sql."""
    folder = unpack("mastodon_py", folder)
    for cassettes in ("cassettes", "cassettes_special"):
        shutil.rmtree(folder / "tests" / cassettes)
        (folder / "tests" / cassettes).mkdir()
    # Any password will do: the tests that sign in replay recorded responses.
    password = secrets.token_hex(16)
    accounts = {
        "admin": {"email": "admin@localhost", "role": "Owner"},
        "admin2": {"email": "zerocool@example.com", "role": "Owner", "locale": "de"},
        "mastodonpy_test": {"email": "mastodonpy_test@localhost", "locale": "ja"},
        "mastodonpy_test_2": {"email": "mastodonpy_test_2@localhost", "locale": "ja"},
    }
    server.create_users(*({"username": name, "password": password, **rest} for name, rest in accounts.items()))
    app = {"client_name": "Mastodon.py test suite", "redirect_uris": OUT_OF_BAND, "scopes": ADMIN_SCOPES}
    app = server.json("/api/v1/apps", app)

    def token(username, scopes):
        return server.authorize(app, accounts[username]["email"], password, scopes)

    first = token("mastodonpy_test", "read write follow push")
    third = token("mastodonpy_test_2", "read write follow push")
    posting = {"source[privacy]": "public", "source[sensitive]": "false"}
    locked, shown = {"locked": "true", **posting}, {"discoverable": "true", "indexable": "true", **posting}
    server.json("/api/v1/accounts/update_credentials", locked, token=first, method="PATCH")
    server.json("/api/v1/accounts/update_credentials", shown, token=third, method="PATCH")
    words = {
        "__MASTODON_PY_TEST_CLIENT_ID": app["client_id"],
        "__MASTODON_PY_TEST_CLIENT_SECRET": app["client_secret"],
        "__MASTODON_PY_TEST_ACCESS_TOKEN": first,
        "__MASTODON_PY_TEST_ACCESS_TOKEN_2": token("admin", ADMIN_SCOPES),
        "__MASTODON_PY_TEST_ACCESS_TOKEN_3": third,
    }
    options = ["-o", "addopts=", "--record-mode=once", *(f"--ignore={file}" for file in MASTODON_PY_IGNORED)]
    return pytest(server, folder, ["tests"], options, words=words)


def node(name):
    """The suite of a library on npm: NAME.mjs, which imports it from beside the installed packages."""

    def suite(server, folder):
        (folder / "node_modules").symlink_to(TOOLS / "node/node_modules")
        for file in HERE.glob("*.mjs"):
            shutil.copy(file, folder)
        server.cli("announcement", "add", "An announcement")
        names = ("alice", "bob", "carol")
        users = [{"username": name, "password": f"password of {name}", "scopes": SCOPES} for name in names]
        users.append({"username": "owner", "role": "Owner", "scopes": ADMIN_SCOPES})
        people = {user["username"]: user for user in server.create_users(*users)}
        live = {"url": f"http://{server.domain}", "people": people}
        environment = {**server.environment, "CLIENTS_LIVE": json.dumps(live)}
        command = [
            NODE, "--test", f"--test-timeout={CASE_SECONDS * 1000}", "--test-force-exit",
            "--test-reporter=spec", "--test-reporter-destination=stdout",
            "--test-reporter=junit", "--test-reporter-destination=report.xml", f"{name}.mjs",
        ]
        return Tests(command, folder, environment)

    return suite


# The tests of the Python libraries expect http://localhost:3000.
SUITES = {
    "toot": (toot, "localhost:3000"),
    "mastodon.py": (mastodon_py, "localhost:3000"),
    "masto": (node("masto"), None),
    "megalodon": (node("megalodon"), None),
}


# ---- Results --------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    # "passed", "failed" or "skipped".
    kind: str
    message: str = ""

    @classmethod
    def of(cls, case):
        for child in case:
            if child.tag in ("failure", "error"):
                return cls("failed", " ".join((child.get("message") or "").split())[:120])
            if child.tag == "skipped":
                return cls("skipped")
        return cls("passed")


@dataclass
class Expected:
    reason: str
    # Depends on the machine: may pass.
    sometimes: bool


@dataclass
class Result:
    passed: int = 0
    skipped: int = 0
    expected: int = 0
    unexpected: list = field(default_factory=list)


def read_expected():
    """The cases in EXPECTED, by suite and name."""
    expected = {}
    for line in (HERE / "EXPECTED").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        parts = re.fullmatch(r"(\??)\s*(\S+) (.+?): (.+)", line)
        if not parts or parts[2] not in SUITES:
            die(f"EXPECTED: not `SUITE CASE: REASON`: {line}")
        expected[parts[2], parts[3]] = Expected(parts[4], sometimes=bool(parts[1]))
    return expected


def compare(suite, outcomes, expected):
    result = Result()
    for case, outcome in outcomes.items():
        known = expected.get((suite, case))
        if outcome.kind == "failed" and known:
            result.expected += 1
        elif outcome.kind == "failed":
            result.unexpected.append(f"{suite} {case}: failed: {outcome.message}")
        elif outcome.kind == "passed" and known and not known.sometimes:
            result.unexpected.append(f"{suite} {case}: passed: remove it from EXPECTED")
        elif outcome.kind == "passed":
            result.passed += 1
        else:
            result.skipped += 1
    if not outcomes:
        result.unexpected.append(f"{suite}: no results, see {LOGS / suite}.log")
        return result
    missing = [case for listed, case in expected if listed == suite and case not in outcomes]
    result.unexpected += [f"{suite} {case}: is in EXPECTED, but did not run" for case in missing]
    return result


def print_table(results):
    print(f"\n{'suite':<14}{'passed':>8}{'failed as expected':>20}{'skipped':>9}{'unexpected':>12}")
    for suite, result in results.items():
        print(f"{suite:<14}{result.passed:>8}{result.expected:>20}{result.skipped:>9}{len(result.unexpected):>12}")


def main(names):
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        die(f"unknown suite {unknown[0]}: {', '.join(SUITES)}")
    if not os.access(PROGRAM, os.X_OK):
        die(f"there is no server program {PROGRAM}; `make build` builds one.")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    expected = read_expected()
    set_up()
    LOGS.mkdir(parents=True, exist_ok=True)
    results = {}
    deadline = time.monotonic() + SUITES_SECONDS
    with tempfile.TemporaryDirectory(prefix="rookery-clients.") as folder, contextlib.ExitStack() as stack:
        folder = Path(folder)
        started = {}
        for name in names or SUITES:
            suite, domain = SUITES[name]
            say(f"clients: running {name}")
            server = stack.enter_context(Server(name, folder, domain))
            (folder / f"{name}-tests").mkdir()
            tests = suite(server, folder / f"{name}-tests")
            started[name] = tests, stack.enter_context(running(name, tests))
        for name, (tests, process) in started.items():
            finished = is_finished(process, deadline)
            results[name] = compare(name, read_outcomes(tests.folder), expected)
            if not finished:
                results[name].unexpected.append(f"{name}: did not end within {SUITES_SECONDS} seconds")
    unexpected = [line for result in results.values() for line in result.unexpected]
    if unexpected:
        print(*unexpected, f"The logs are in {LOGS.relative_to(ROOT)}.", sep="\n")
    print_table(results)
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
