"""A program on a pseudo-terminal, for tests of the prompt.

No test sleeps: each sends keys and waits until what it expects has come out,
or until a watchdog gives up.
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
import traceback

PATIENCE = int(os.environ.get("PATIENCE", 30))  # seconds, for slow machines and sanitizers
# Lua that never ends. ThreadSanitizer hands signals on only when one of the
# functions that it watches is called, which a loop does that makes tables.
FOR_EVER = "while true do %s end" \
    % ("local _ = {}" if "thread" in os.environ.get("SANITIZE", "") else "")
CTRL_C, CTRL_D, TAB, UP, ENTER = "\x03", "\x04", "\t", "\x1b[A", "\r"


class Failure(Exception):
    pass


class Session:
    def __init__(self, *arguments, rows=24, columns=80, program=None, **env):
        self.folder = tempfile.mkdtemp()
        self.raw = self.output = ""
        self.seen = 0
        self.status = None
        environment = {
            "TERM": "xterm", "HOME": self.folder, "PATH": os.environ["PATH"],
            "XDG_STATE_HOME": self.folder + "/state",
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""),
        }
        environment.update(env)
        environment = {k: v for k, v in environment.items() if v is not None}
        program = program or os.environ["CBENCH"]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.chdir(self.folder)
            os.execve(program, ["cbench", *arguments], environment)
        self.resize(rows, columns)

    def resize(self, rows, columns):
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, size)

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def enter(self, line):
        self.send(line + ENTER)

    def _read(self, deadline):
        """More output; False at its end."""
        wait = deadline - time.monotonic()
        if wait <= 0:
            raise Failure("nothing more came")
        if not select.select([self.fd], [], [], wait)[0]:
            raise Failure("nothing more came")
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.raw += data.decode("utf-8", "replace")
        # What readline says to terminals about pasting is no output.
        self.output = re.sub("\x1b\\[\\?2004[hl]\r?", "", self.raw)
        return bool(data)

    def expect(self, text, pattern=False):
        """Waits for the text after what was expected before."""
        deadline = time.monotonic() + PATIENCE
        regex = re.compile(text if pattern else re.escape(text), re.S)
        while True:
            found = regex.search(self.output, self.seen)
            if found:
                self.seen = found.end()
                return found.group()
            try:
                more = self._read(deadline)
            except Failure:
                more = False
            if not more:
                raise Failure("expected %r, got %r"
                              % (text, self.output[self.seen:][-600:]))

    def result(self, line, shown):
        """The line gives exactly this, and then a prompt."""
        self.enter(line)
        self.expect("\r\n")
        self.expect(shown + "\r\n> ")

    def end(self):
        """Waits for the end; the exit status, or minus a signal."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def end_by(self, keys):
        """Sends the keys until the program ends: two signals that come close
        together may be one."""
        for _ in range(PATIENCE * 5):
            self.send(keys)
            while select.select([self.fd], [], [], 0.2)[0]:
                if not self._read(time.monotonic() + PATIENCE):
                    return self.end()
        raise Failure("the program goes on")

    def leave(self):
        self.send(CTRL_D)
        return self.end()

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
        shutil.rmtree(self.folder, ignore_errors=True)


def check(truth, what):
    if not truth:
        raise Failure(what)


def edited(test):
    """For tests that need a line editor."""
    test.edited = True
    return test


def run(tests):
    """Runs functions named by what they show; prints TAP."""
    print("1..%d" % len(tests))
    for number, test in enumerate(tests, 1):
        name = test.__doc__ or test.__name__
        opened = []
        if hasattr(test, "edited") and os.environ.get("EDITLINE") == "no":
            print("ok %d - %s # SKIP no line editor" % (number, name))
            continue

        def start(*arguments, **options):
            opened.append(Session(*arguments, **options))
            return opened[-1]
        try:
            test(start)
            print("ok %d - %s" % (number, name))
        except Exception as error:  # a broken test is a failed one
            print("not ok %d - %s" % (number, name))
            text = str(error) if isinstance(error, Failure) \
                else traceback.format_exc()
            for line in text.splitlines():
                print("#", line)
        finally:
            for session in opened:
                session.close()
        sys.stdout.flush()
