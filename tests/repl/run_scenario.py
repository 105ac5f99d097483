"""A scenario on a terminal: progress, Ctrl-C, colour."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
from terminal import CTRL_C, FOR_EVER, check, run  # noqa: E402

SCENARIO = """
local cbench = require "cbench"
return cbench.scenario {
  title = "Adds", params = { adds = { 100, 1000 } },
  workload = cbench.workload.chain,
}
"""
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "adds.lua")
with open(path, "w") as file:
    file.write(SCENARIO)


def progress(start):
    "progress tells what runs and how long, and is gone before the table"
    s = start(path, "-F", "2", "-T", "1")
    s.expect("adds: process 1/2")
    s.expect(r"\d s left", pattern=True)
    s.expect("\r")
    s.expect("Adds")
    check(s.end() == 0, "exit status %s" % s.status)
    shown = s.raw.split("Adds")[0]
    check(shown.endswith(" \r") or shown.endswith(" \r\x1b[1m"),
          "the progress line is not wiped: %r" % shown[-40:])
    check("left" not in s.raw.split("Adds", 1)[1], "progress in the table")


def quiet(start):
    "no progress with -q, none in a pipe"
    s = start(path, "-F", "2", "-T", "0.5", "-q")
    check(s.end() == 0, "exit status")
    check("left" not in s.raw, "progress was shown")
    s = start("-c", "cbench %s -F 2 -T 0.5 2>err | cat; cat err" % path,
              program="/bin/sh",
              PATH=os.path.dirname(os.environ["CBENCH"]) + ":"
              + os.environ["PATH"])
    check(s.end() == 0, "exit status")
    check("ticks/op" in s.raw, "no table: %r" % s.raw[:200])
    check("left" not in s.raw and "\x1b" not in s.raw, "progress or colour")


def narrow(start):
    "progress fits a narrow terminal, the time left included"
    s = start(path, "-F", "1", "-T", "1", columns=20, TERM="dumb")
    check(s.end() == 0, "exit status")
    for part in s.raw.split("Adds")[0].split("\r"):
        check(len(part) < 21, "too wide: %r" % part)
    check(" s left" in s.raw, "how long it takes is not told: %r" % s.raw[:80])


def interrupted(start):
    "Ctrl-C keeps what there is, in one process and in several"
    for forks in ("1", "3"):
        s = start(path, "-F", forks, "-T", "600")
        s.expect("s left")
        s.send(CTRL_C)
        status = s.end()
        check(status == 130, "exit status %s: %r" % (status, s.raw[-300:]))


def killed(start):
    "a second Ctrl-C kills"
    s = start("-e", "local c = require 'cbench' "
              "c.measure(c.workload.lua { call = function () print 'on' "
              + FOR_EVER + " end }, { time = 1 })")
    s.expect("on\r\n")
    status = s.end_by(CTRL_C)
    check(status == -2, "exit status %s" % status)


def colour(start):
    "colour on a terminal, not with NO_COLOR nor --color never"
    s = start(path, "-F", "1", "-T", "0.1")
    check(s.end() == 0 and "\x1b[1mAdds" in s.raw, "no colour: %r" % s.raw)
    s = start(path, "-F", "1", "-T", "0.1", NO_COLOR="1")
    check(s.end() == 0 and "\x1b" not in s.raw, "colour: %r" % s.raw)
    s = start(path, "-F", "1", "-T", "0.1", "--color", "never")
    check(s.end() == 0 and "\x1b" not in s.raw, "colour: %r" % s.raw)


run([progress, quiet, narrow, interrupted, killed, colour])
