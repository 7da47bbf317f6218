"""One group of tests, collected once, and many mutants of the modules that they test, each in a fork."""

import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import threading
import time
import types

import pytest
from hypothesis import HealthCheck, Phase, settings
from mutation.mutants import changed

settings.register_profile(
    "mutation",  # the first counterexample will do: none is made smaller
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=8,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
_SLOW = 12  # seconds of processor time, traced: a test that takes longer is left out
_MEMORY = 3 << 30
_PATIENCE = 1200  # seconds by the clock in which a fork must have answered: the machine may have other things to do


class Trials:
    """A plugin of pytest that tries mutants instead of running the tests once.

    Parameters
    ----------
    pairs : list of (Path, Mutant)
    seconds : float
        No further mutant is begun after this time.
    """

    def __init__(self, pairs, seconds):
        self.pairs, self.seconds = pairs, seconds
        self.broken, self.slow, self.tried, self.survived, self.unreached, self.late = [], [], 0, [], 0, 0
        self._failed = False

    def run(self, tests):
        """Collect these tests and try all mutants; 0 unless a test fails without any change."""
        options = ["-s", "-p", "no:terminal", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"]
        code = pytest.main([*options, *tests], plugins=[self])
        if code and not self.broken:
            self.broken = [f"pytest ended with {code!r}"]
        return int(bool(self.broken))

    def summary(self):
        """The figures, in a line."""
        return (
            f"{self.tried} tried, {self.tried - len(self.survived)} killed ({self.late} by their time), "
            f"{len(self.survived)} survived, {self.unreached} of which no test reaches"
        )

    def pytest_runtest_logreport(self, report):
        self._failed |= report.failed

    def pytest_collectreport(self, report):
        if report.failed:
            self.broken.append(report.nodeid)

    def pytest_runtestloop(self, session):
        if self.broken:
            return True
        self._items = session.items
        gc.unfreeze()  # what an earlier group froze, or its functions would not be found
        self._functions = _functions({str(path) for path, _ in self.pairs})
        gc.collect()
        gc.freeze()
        self._explore()
        kills, begun = {}, time.monotonic()
        for path, mutant in self.pairs if not self.broken else []:
            if time.monotonic() - begun > self.seconds:
                break
            killer = self._try(path, mutant, kills)
            self.tried += 1
            place = f"{path.parent.name}/{path.name}:{mutant.line}:{mutant.column}: {mutant.change}"
            if killer is None:
                self.survived.append(place)
            elif killer in self._items:
                kills.setdefault(path, []).append(killer)
            print(f"{'survived' if killer is None else 'killed'}: {place}", flush=True)
        return True

    def _explore(self):
        """Run each test once, in a fork: which lines it reaches, and how long it takes."""
        files = {str(path): set() for path, _ in self.pairs}
        self._reach, self._cost = {}, {}
        for item in self._items:
            found = _forked(lambda item=item: self._traced(item, files), _SLOW)
            if found is None:
                self.slow.append(item.nodeid)
            elif found["failed"]:
                self.broken.append(item.nodeid)
            else:
                self._cost[item] = found["seconds"]
                self._reach[item] = {name: set(lines) for name, lines in found["lines"].items()}
        print(
            f"{len(self._cost)} tests of {sum(self._cost.values()):.0f} s; slow and left out: {self.slow}", flush=True
        )

    def _traced(self, item, files):
        def each_call(frame, event, argument):
            lines = files.get(frame.f_code.co_filename)
            if lines is None:
                return None

            def each_line(frame, event, argument):
                lines.add(frame.f_lineno)
                return each_line

            lines.add(frame.f_lineno)
            return each_line

        threading.settrace(each_call)
        sys.settrace(each_call)
        begun = time.process_time()
        failed = self._fails(item)
        sys.settrace(None)
        lines = {name: sorted(lines) for name, lines in files.items() if lines}
        return {"failed": failed, "seconds": time.process_time() - begun, "lines": lines}

    def _fails(self, item):
        self._failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return self._failed

    def _try(self, path, mutant, kills):
        """The test that notices a mutant, or what else ended it; None if nothing did."""
        able = [item for item in self._cost if self._reaches(item, path, mutant)]
        if not able:
            self.unreached += 1
            return None
        before = kills.get(path, [])
        able.sort(key=lambda item: self._cost[item] / (1 + before.count(item)))
        limit = 20 + 10 * sum(self._cost[item] for item in able)
        if mutant.at_import:
            answer = _forked(lambda: self._import_changed(path, mutant, able), limit)
        else:
            answer = _forked(lambda: self._call_changed(path, mutant, able), limit)
        if answer is None:
            self.late += 1
            return "its time"
        return able[answer] if answer >= 0 else None

    def _reaches(self, item, path, mutant):
        lines = self._reach[item].get(str(path), ())
        return bool(lines) if mutant.at_import else any(line in lines for line in mutant.lines)

    def _call_changed(self, path, mutant, items):
        """Give every function of the module the code of the changed one, wherever it has been imported to."""
        codes = dict(_codes(compile(changed(path.read_text(), mutant.index), str(path), "exec")))
        for function in self._functions[str(path)]:
            code = function.__code__
            function.__code__ = codes.get((code.co_qualname, code.co_firstlineno), code)
        return next((i for i, item in enumerate(items) if self._fails(item)), -1)

    def _import_changed(self, path, mutant, items):
        """Forget what was imported of gramless and its tests, and begin again with the changed module."""
        root = str(path)[: str(path).index("/src/gramless")]
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(root) and not name.startswith("mutation"):
                del sys.modules[name]
        finder = _Changed(path, mutant)
        sys.meta_path.insert(0, finder)
        try:
            importlib.import_module(finder.name)  # or pytest would import it for its doctests, past the finder
        except Exception:
            return 0
        ids = [item.nodeid for item in items]
        quiet = ["-x", "-s", "-p", "no:terminal", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"]
        quiet += ["--assert=plain"]  # or pytest would load, unchanged, the module whose examples are among the tests
        return 0 if pytest.main([*quiet, *ids]) else -1


class _Changed:
    """Finds one module, changed."""

    def __init__(self, path, mutant):
        parts = path.with_suffix("").parts
        self.name = ".".join(parts[parts.index("src") + 1 :]).removesuffix(".__init__")
        self.path, self.mutant = path, mutant

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        from importlib.util import spec_from_file_location

        spec = spec_from_file_location(name, self.path)
        spec.loader.get_code = lambda _: compile(
            changed(self.path.read_text(), self.mutant.index), str(self.path), "exec"
        )
        return spec


def _functions(files):
    """Every function there is whose code stands in one of these files, by file."""
    found = {name: [] for name in files}
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename in found:
            found[thing.__code__.co_filename].append(thing)
    return found


def _codes(code):
    """(qualified name and first line, code) pairs of all that a code object holds."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _codes(constant)


def _forked(work, limit):
    """What `work` returns in a fork that may take `limit` seconds of processor time; None if it does not end well."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(work, limit, writing)
    os.close(writing)
    parts, until = [], time.monotonic() + _PATIENCE
    while select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        parts.append(os.read(reading, 1 << 20))
        if not parts[-1] or parts[-1].endswith(b"\n"):  # one that it left behind may hold the pipe open
            break
    os.close(reading)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    text = b"".join(parts)
    return json.loads(text) if text.endswith(b"\n") else None


def _in_child(work, limit, writing):
    os.setpgid(0, 0)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    seconds = int(limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    try:
        text = json.dumps(work()) + "\n"
        with os.fdopen(writing, "w") as pipe:
            pipe.write(text)
    finally:
        os._exit(0)
