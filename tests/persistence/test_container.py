"""The container: every byte counts, nothing is believed, and a write happens whole or not at all."""

import errno
import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

from gramless import FormatError
from gramless.persistence import read_file, replacing, write_file

ARRAYS = {
    "0": np.arange(6.0).reshape(2, 3),
    "1": np.array([True, False, True]),
    "2": np.zeros((0, 4), dtype=np.float32),
    "3": np.array(7, dtype=np.int64),
    "4": np.arange(5, dtype=">f8"),
}


@pytest.fixture
def path(tmp_path):
    write_file(tmp_path / "file", {"note": "é"}, ARRAYS)
    return tmp_path / "file"


def rebuilt(path, change):
    """The file with the layout's own JSON changed as a text; the checksum is not put right."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    text = change(data[8 : 8 + length].decode()).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    return path


def test_arrays_come_back_as_they_were(path):
    header, arrays = read_file(path)
    assert header["note"] == "é"
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].shape == array.shape
        assert arrays[name].dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(arrays[name], array)


def test_a_file_may_have_no_arrays(tmp_path):
    write_file(tmp_path / "file", {"note": 1}, {})
    header, arrays = read_file(tmp_path / "file")
    assert header["note"] == 1
    assert arrays == {}


def test_the_library_reads_our_files(path):
    safetensors = pytest.importorskip("safetensors.numpy")
    for name, array in safetensors.load_file(path).items():
        np.testing.assert_array_equal(array, ARRAYS[name])


def test_every_bit_is_under_the_checksum(path):
    data = path.read_bytes()
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        with pytest.raises(FormatError):
            read_file(path)


def test_a_bit_of_an_array_is_caught_by_the_checksum(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(FormatError, match="checksum does not match"):
        read_file(path)


def test_every_truncation_is_refused(path):
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(FormatError):
            read_file(path)
    path.write_bytes(data + b"\0")
    with pytest.raises(FormatError, match="the arrays take"):
        read_file(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"shape": [2, 3]', '"shape": [2, 4]'), "does not match its bytes"),
        (lambda text: text.replace('"shape": [2, 3]', f'"shape": [{2**62}, 4]'), "does not match its bytes"),
        (lambda text: text.replace('"shape": [2, 3]', '"shape": [-2, -3]'), "shape"),
        (lambda text: text.replace('"shape": [2, 3]', '"shape": [2.0, 3]'), "shape"),
        (lambda text: text.replace('"shape": [2, 3]', '"shape": "6"'), "shape"),
        (lambda text: text.replace('"shape": [0, 4]', f'"shape": [0, {2**63}]'), "does not match its bytes"),
        (lambda text: text.replace("[48, 51]", "[45, 48]"), "overlaps another"),
        (lambda text: text.replace("[48, 51]", "[49, 52]"), "overlaps another, leaves a gap"),
        (lambda text: text.replace('"F64"', '"O8"', 1), "dtype 'O8'"),
        (lambda text: text.replace('"dtype"', '"code"', 1), "not described by"),
        (lambda text: text.replace('"1":', '"0":'), "name '0' twice"),
        (lambda text: text.replace("[2, 3]", "[NaN, 3]"), "NaN"),
        (lambda text: "[" * 100_000 + "]" * 100_000, "nested too deeply"),
        (lambda text: text[: text.index("sha256") - 3] + "}}", "lacks a checksum"),
        (lambda text: "{}", "not a gramless model file"),
        (lambda text: "9" * 5000, "not JSON"),
        (lambda text: text.replace("gramless", "somebody"), "not a gramless model file"),
        (lambda text: " " * (5 * 2**20), "at most 4194304 are read"),
    ],
)
def test_false_claims_are_refused_by_name(path, change, message):
    with pytest.raises(FormatError, match=message):
        read_file(rebuilt(path, change))


def test_a_short_file_that_claims_a_long_header(tmp_path):
    (tmp_path / "file").write_bytes((2**63).to_bytes(8, "little") + b"{}")
    with pytest.raises(FormatError, match="truncated"):
        read_file(tmp_path / "file")


def test_names_given_twice_inside_the_header(path):
    def twice(text):
        entries = json.loads(text)
        entries["__metadata__"]["gramless"] = '{"format": 2, "format": 2}'
        return json.dumps(entries)

    with pytest.raises(FormatError, match="name 'format' twice"):
        read_file(rebuilt(path, twice))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_regular_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for special in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(FormatError, match="not a regular file"):
            read_file(special)
    with pytest.raises((FormatError, PermissionError), match=r"folder|denied"):
        read_file(tmp_path)


def test_a_full_disk_leaves_the_old_file(path):
    """In a child whose files may not grow beyond a few bytes, as on a disk that fills up during the write."""
    before = path.read_bytes()
    script = (
        "import resource, signal, sys, numpy as np\n"
        "from gramless.persistence import write_file\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    write_file(sys.argv[1], {}, {'0': np.ones(10**5)})\n"
        "except OSError as error:\n"
        "    print(error.errno)\n"
    )
    child = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert int(child.stdout) == errno.EFBIG
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_error_at_any_step_leaves_the_old_file(path, error, monkeypatch):
    before = path.read_bytes()

    def fail(*_):
        raise error

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            with pytest.raises(type(error)):
                write_file(path, {}, {"0": np.ones(3)})
        assert path.read_bytes() == before
        assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_process_killed_during_the_write_leaves_the_old_file(path):
    before = path.read_bytes()
    script = (
        "import os, signal, sys\n"
        "from gramless.persistence import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'half')\n"
        "    file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode < 0
    assert path.read_bytes() == before


def test_links_are_followed_and_permissions_are_those_of_open(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    (tmp_path / "plain").write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing; create it first"):
        write_file(tmp_path / "missing" / "file", {}, {})
