"""Completion in zsh itself: what becomes of a line when Tab is pressed."""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
from terminal import TAB, check, run  # noqa: E402

# Tab completes, then shows the line between signs that nobody types.
START = r"""
PS1= fpath=("$TOP/completion" $fpath)
setopt no_beep
autoload -Uz compinit && compinit -u -D
shown() {
  zle complete-word
  zle -I
  print -r -- "{{$BUFFER}}"
  BUFFER=
}
zle -N shown && bindkey '^I' shown
cd $ZDOTDIR
"""


def completes(start, lines):
    s = start("zsh", "-d", "-i", program="/usr/bin/env", TERM="dumb",
              rows=40, columns=200, TOP=os.path.abspath(os.environ["top_srcdir"]),
              ZDOTDIR=ZDOTDIR, PATH=ZDOTDIR + ":" + os.environ["PATH"])
    for line, expected in lines.items():
        s.send(line + TAB)
        shown = s.expect(r"\{\{.*?\}\}\r", pattern=True)[2:-3]
        check(shown == expected, "%s: %s" % (line, shown))


def words(start):
    "subcommands, scenarios, options, topics"
    completes(start, {
        "cbench comp": "cbench compare ",
        "cbench nest": "cbench nesting ",
        "cbench limits/pi": "cbench limits/pipeline ",
        'cbench "nest': 'cbench "nesting" ',
        "cbench --for": "cbench --for",  # forks or format
        "cbench nesting --se": "cbench nesting --seed ",
        "cbench --place sa": "cbench --place same ",
        "cbench nesting --format=mark": "cbench nesting --format=markdown ",
        "cbench help meas": "cbench help measure ",
    })


def parameters(start):
    "parameters of the scenario typed, and their values"
    completes(start, {
        "cbench nesting de": "cbench nesting depth=",
        "cbench -T 2 nesting -f 'a b' de":
            "cbench -T 2 nesting -f 'a b' depth=",
        "cbench nesting depth=1,": "cbench nesting depth=1,10",
        "cbench nesting pool=no": "cbench nesting pool=none ",
        "cbench ab --a x --b y nesting po":
            "cbench ab --a x --b y nesting pool=",
    })


def braces(start):
    "values with braces are quoted, and go on when they are"
    completes(start, {
        "cbench ring_same_cpu ring=rt": r"cbench ring_same_cpu ring=rte\{sync=",
        r"cbench ring_same_cpu ring=rte\{sync=st\},n":
            r"cbench ring_same_cpu ring=rte\{sync=st\},nop ",
        "cbench ring_same_cpu 'ring=rte{sync=s":
            "cbench ring_same_cpu 'ring=rte{sync=st}' ",
        # No quote: zsh's own, and left alone.
        "cbench ring_same_cpu ring=rte{sync=s":
            "cbench ring_same_cpu ring=rte{sync=s",
        "cbench ring_same_cpu ring=rte{sync=st},":
            "cbench ring_same_cpu ring=rte{sync=st},",
    })


def files(start):
    "files, where there are no words"
    completes(start, {
        "cbench so": "cbench some.lua ",
        "cbench merge so": "cbench merge some.lua ",
        "cbench -o s": "cbench -o some.lua ",
        "cbench --baseline=s": "cbench --baseline=some.lua ",
    })


if not shutil.which("zsh"):
    print("1..0 # SKIP zsh is not installed")
    sys.exit()
with tempfile.TemporaryDirectory() as ZDOTDIR:
    with open(os.path.join(ZDOTDIR, ".zshrc"), "w") as file:
        file.write(START)
    open(os.path.join(ZDOTDIR, "some.lua"), "w").close()
    os.symlink(os.environ["CBENCH"], os.path.join(ZDOTDIR, "cbench"))
    run([words, parameters, braces, files])
