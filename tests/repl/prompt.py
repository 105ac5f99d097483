"""The prompt on a terminal: values, lines, keys, history, errors."""
import os
import stat
import subprocess
import sys

sys.dont_write_bytecode = True
from terminal import (  # noqa: E402
    CTRL_C, CTRL_D, ENTER, FOR_EVER, TAB, UP, check, edited, run)


def values(start):
    "values look as print shows them"
    s = start()
    s.expect("> ")
    s.result("1+1", "2")
    s.result('1,nil,"a"', "1\tnil\ta")
    s.result("nil", "nil")
    s.result("=2", "2")
    s.result("  1.5", "1.5")
    check(s.leave() == 0, "exit status")


def greeting(start):
    "a session greets and knows cbench"
    s = start()
    s.expect("cbench ")
    s.expect("> ")
    s.result("type(cbench), type(help)", "table\tfunction")
    s.result("cbench == require 'cbench'", "true")


def silence(start):
    "assignments and a semicolon show nothing; _ is the last value"
    s = start()
    s.expect("> ")
    s.enter("x = 5")
    s.expect("x = 5\r\n> ")
    s.result("x", "5")
    s.enter("x + 1;")
    s.expect("x + 1;\r\n> ")
    s.result("_", "6")
    s.enter("local a = 1;")
    s.expect(";\r\n> ")
    s.result("a", "nil")


def tables(start):
    "tables are sorted, safe against cycles, bounded"
    s = start()
    s.expect("> ")
    s.result("{b = 2, a = 1}", "{a = 1, b = 2}")
    s.result("{2, a = 1}", "{a = 1, [1] = 2}")
    s.result("{1, 'two', {3}}", '{1, "two", {3}}')
    s.result("t = {} t.t = t return t", "{t = <cycle>}")
    s.result("{a = {b = {c = {d = {e = 1}}}}}",
             "{a = {b = {c = {d = {...}}}}}")
    s.enter("t = {} for i = 1, 1e6 do t[i] = i end return t")
    s.expect("39,\r\n  40,\r\n  ...\r\n}\r\n> ")
    s.result("setmetatable({}, {__tostring = function () return 'me' end})",
             "me")
    s.enter("setmetatable({}, {__tostring = error})")
    s.expect("error in __tostring")
    s.expect("> ")


def lines(start):
    "a chunk of several lines"
    s = start()
    s.expect("> ")
    s.enter("for i = 1, 2 do")
    s.expect(">> ")
    s.enter("")
    s.expect(">> ")
    s.enter("print(i) end")
    s.expect("1\r\n2\r\n> ")
    s.enter("math.max(1,")
    s.expect(">> ")
    s.result("3)", "3")


@edited
def abandoned(start):
    "Ctrl-C drops a chunk, a line, and leaves no session"
    s = start()
    s.expect("> ")
    s.enter("for i = 1, 2 do")
    s.expect(">> ")
    s.send(CTRL_C)
    s.expect("^C\r\n> ")
    s.send("boom")
    s.expect("boom")
    s.send(CTRL_C)
    s.expect("^C\r\n> ")
    s.send(CTRL_C)
    s.expect("(Ctrl-D to leave)\r\n> ")
    s.send(CTRL_C)
    s.expect("^C\r\n> ")
    s.result("1 + 2", "3")
    check(s.output.count("Ctrl-D to leave") == 1, "the hint came twice")
    check("boom" not in s.output.split("^C", 2)[2], "the line came back")


def interrupted(start):
    "Ctrl-C ends a loop, and only that"
    s = start()
    s.expect("> ")
    for _ in range(3):
        s.enter("x = 1 print 'on' " + FOR_EVER)
        s.expect("\r\non\r\n")
        s.send(CTRL_C)
        s.expect("interrupted!")
        s.expect("> ")
        s.result("x > 0", "true")
    s.enter("pcall(function () print 'on' %s end) print 'off'" % FOR_EVER)
    s.expect("\r\non\r\n")
    s.send(CTRL_C)
    s.expect("off\r\n> ")


def interrupted_coroutines(start):
    "Ctrl-C ends a loop in a coroutine, Lua's or ours, and in one within another"
    s = start()
    s.expect("> ")
    s.enter("function f() print 'on' %s end" % FOR_EVER)
    s.expect("> ")
    s.enter("function ours(f) return function () "
            "cbench.coroutine.create(f):enter() end end")
    s.expect("> ")
    s.enter("function later() cbench.coroutine.yield() f() end")
    s.expect("> ")
    for line in ("coroutine.wrap(f)()",
                 "print(coroutine.resume(coroutine.create(f)))",
                 "ours(f)()", "ours(coroutine.wrap(f))()",
                 "coroutine.wrap(ours(f))()",
                 "coroutine.wrap(ours(coroutine.wrap(ours(f))))()",
                 "co = cbench.coroutine.create(coroutine.wrap(later)) "
                 "co:enter() coroutine.wrap(function () co:enter() end)()"):
        s.enter(line)
        s.expect("\r\non\r\n")
        s.send(CTRL_C)
        s.expect("interrupted!")
        s.expect("> ")
        s.result("1 + 1", "2")
    s.enter("co = cbench.coroutine.create(coroutine.wrap(later)) co:enter() "
            "co:close() co = nil collectgarbage() f()")
    s.expect("\r\non\r\n")
    s.send(CTRL_C)
    s.expect("interrupted!")
    s.expect("> ")
    check(s.leave() == 0, "exit status")


def coroutines_as_ever(start):
    "the prompt's coroutine.resume and wrap are those of Lua"
    s = start()
    s.expect("> ")
    s.result("coroutine.resume(coroutine.create(function (...) "
             "return select('#', ...), coroutine.yield(...) end), 1, nil)",
             "true\t1\tnil")
    s.result("pcall(coroutine.resume, 5)", "false\tbad argument #1 to "
             "'coroutine.resume' (thread expected, got number)")
    s.result("pcall(coroutine.wrap, 5)", "false\tbad argument #1 to "
             "'coroutine.wrap' (function expected, got number)")
    s.result("g = coroutine.wrap(function (a) local b = coroutine.yield(a + 1) "
             "error('x' .. b) end) return g(1)", "2")
    s.result("pcall(g, 2)", "false\tstdin:1: x2")
    s.result("pcall(g)", "false\tcannot resume dead coroutine")
    s.result("pcall(coroutine.wrap(function () error {} end)) == false", "true")
    s.result("coroutine.resume(coroutine.running())",
             "false\tcannot resume non-suspended coroutine")
    s.result("coroutine.isyieldable(), pcall(coroutine.yield)",
             "false\tfalse\tattempt to yield from outside a coroutine")
    s.result("n = 0 function deep() n = n + 1 return coroutine.wrap(deep)() end "
             "return pcall(deep) == false and n > 150", "true")


def interrupted_show(start):
    "Ctrl-C while a value is turned into text"
    s = start()
    s.expect("> ")
    s.enter("setmetatable({}, {__tostring = function () "
            "print 'on' %s end})" % FOR_EVER)
    s.expect("\r\non\r\n")
    s.send(CTRL_C)
    s.expect("interrupted!")
    s.expect("> ")
    s.result("1", "1")


def end_of_input(start):
    "Ctrl-D leaves with 0, in the middle of a chunk too"
    s = start()
    s.expect("> ")
    check(s.leave() == 0, "exit status")
    s = start()
    s.expect("> ")
    s.enter("goto")
    s.expect(">> ")
    check(s.leave() == 0, "exit status")
    check("(null)" not in s.output, "(null) was printed")


def errors(start):
    "errors show a message and a short traceback, and the session goes on"
    s = start()
    s.expect("> ")
    s.enter("error 'x'")
    s.expect("stdin:1: x\r\nstack traceback:")
    s.expect("> ")
    s.enter("error {}")
    s.expect("(error object is a table value)")
    s.expect("> ")
    s.enter("error(setmetatable({}, {__tostring = function () "
            "return 'told' end}))")
    s.expect("\r\ntold\r\n> ")
    s.enter("x x")
    s.expect("stdin:1: syntax error near 'x'\r\n> ")
    check(s.leave() == 0, "exit status")
    check("[C]: in ?" not in s.output, "the frame below the prompt is shown")


@edited
def completion(start):
    "Tab completes globals, fields and methods"
    s = start()
    s.expect("> ")
    s.send("cbe" + TAB)
    s.expect("nch")
    s.enter("._VERSION")
    s.expect("cbench 0")
    s.expect("> ")
    s.send("string.rev" + TAB)
    s.expect("erse")
    s.enter("('abc')")
    s.expect("cba\r\n> ")
    s.send("io.stdout:set" + TAB)
    s.expect("vbuf")
    s.enter(" 'no'")
    s.expect("true\r\n> ")
    s.send("cbench.ki" + TAB)
    s.expect("nds")
    s.send(CTRL_C)
    s.expect("> ")
    s.send("table." + TAB)
    s.expect("concat")
    s.expect("unpack")
    s.enter("concat {7}")
    s.expect("\r\n7\r\n> ")
    s.send("no_such_thing.x" + TAB + "y")
    s.expect("y")
    s.send(CTRL_C)
    s.expect("^C")


@edited
def completion_of_kinds(start):
    "Tab completes kinds, their options and topics"
    s = start()
    s.expect("> ")
    s.send('cbench.kinds "loc' + TAB + '"' + ENTER)
    s.expect("ticket")
    s.expect("> ")
    s.send('cbench.workload.lock { lock = "tick' + TAB + '", thr' + TAB +
           " = 1 }.params.threads" + ENTER)
    s.expect("\r\n1\r\n> ")
    s.send("cbench.workload.chai" + TAB + " { add" + TAB + " = 7, na" + TAB +
           " = 'x' }" + ENTER)
    s.expect("chain{adds=7}")
    s.expect("> ")
    s.send("cbench.format(r, 'mark" + TAB)
    s.expect("down")
    s.send(CTRL_C)
    s.expect("^C\r\n> ")
    s.send("cbench.workload.pipeline { { 'sour" + TAB + "', dep" + TAB)
    s.expect("ce', dep")
    s.expect("th")
    s.send(CTRL_C)
    s.expect("^C\r\n> ")
    s.send("o = cbench.measure(w, { rou" + TAB + " = 1")
    s.expect("nds = 1")
    s.send(CTRL_C)
    s.expect("^C\r\n> ")


def filled(start):
    "the module and its workloads are shown with all that they have"
    s = start()
    s.expect("> ")
    s.enter("cbench")
    s.expect("derive = {")
    s.expect("pipeline = function")
    s.expect("\r\n> ")
    s.result("#tostring(cbench.pool {}) > 0, select('#', cbench.pool {})",
             "true\t1")


@edited
def completion_calls_nothing(start):
    "completion calls no __index function"
    s = start()
    s.expect("> ")
    s.enter("called = 0")
    s.expect("> ")
    s.enter("t = setmetatable({}, {__index = function () "
            "called = called + 1 end, __pairs = function () "
            "called = called + 1 end})")
    s.expect("> ")
    s.send("t.a" + TAB + "t.b:c" + TAB + TAB + "end")
    s.expect("end")
    s.send(CTRL_C)
    s.expect("^C\r\n> ")
    s.result("called", "0")


@edited
def indentation(start):
    "Tab at the beginning of a line indents"
    s = start()
    s.expect("> ")
    s.send(TAB + "7" + ENTER)
    s.expect("  7\r\n7\r\n> ")


@edited
def history_file(start):
    "history is a private file of plain lines, written at once"
    s = start()
    s.expect("> ")
    s.result("1 + 1", "2")
    s.result("1 + 1", "2")
    s.enter("for i = 1, 1 do")
    s.expect(">> ")
    s.enter("  print(i) end")
    s.expect("1\r\n> ")
    s.enter("   ")
    s.expect("> ")
    s.send("lost")
    s.expect("lost")
    s.send(CTRL_C)
    s.expect("^C\r\n> ")
    s.enter("os.exit(7)")
    check(s.end() == 7, "exit status")
    path = s.folder + "/state/cbench/history"
    mode = stat.S_IMODE(os.stat(path).st_mode)
    check(mode == 0o600, "mode %o" % mode)
    with open(path) as file:
        check(file.read() == "1 + 1\nfor i = 1, 1 do\n>>   print(i) end\n"
              "os.exit(7)\n", "the file's text")


@edited
def history_recall(start):
    "Up brings entries back, those of several lines as a whole"
    first = start()
    first.expect("> ")
    first.enter("for i = 1, 2 do")
    first.expect(">> ")
    first.enter("print(i * 21) end")
    first.expect("42\r\n> ")
    first.result("6 * 7", "42")
    first.send(CTRL_D)
    first.end()
    s = start(XDG_STATE_HOME=first.folder + "/state")
    s.expect("> ")
    s.send(UP + ENTER)
    s.expect("6 * 7\r\n42\r\n> ")
    s.send(UP + UP + ENTER)
    s.expect("21\r\n42\r\n> ")
    s.send(CTRL_D)
    s.end()


def history_limit(start):
    "the file is cut back to 1000 entries"
    s = start()
    s.expect("> ")
    s.enter("1")
    s.expect("> ")
    path = s.folder + "/state/cbench/history"
    with open(path, "w") as file:
        file.writelines("%d\n" % i for i in range(1500))
    second = start(CBENCH_HISTORY=path)
    second.expect("> ")
    second.result("'last'", "last")
    second.send(CTRL_D)
    second.end()
    with open(path) as file:
        lines = file.read().splitlines()
    check(len(lines) == 1001, "%d lines" % len(lines))
    check(lines[0] == "500" and lines[-1] == "'last'", "which lines")


def history_unfinished(start):
    "an entry is a line of its own where the last line had no end"
    folder = start().folder
    path = folder + "/history"
    with open(path, "w") as file:
        file.write("first\nlast")
    s = start(CBENCH_HISTORY=path)
    s.expect("> ")
    s.result("1 + 1", "2")
    s.result("2 + 2", "4")
    check(s.leave() == 0, "exit status")
    with open(path) as file:
        check(file.read() == "first\nlast\n1 + 1\n2 + 2\n", "the file's text")


def history_off(start):
    "history: none when $CBENCH_HISTORY is empty; trouble is silent"
    s = start(CBENCH_HISTORY="")
    s.expect("> ")
    s.result("1", "1")
    s.send(CTRL_D)
    s.end()
    check(not os.path.exists(s.folder + "/state"), "a file was made")
    for path in ("/proc/no/such", "/", "/dev/full"):
        s = start(CBENCH_HISTORY=path)
        s.expect("> ")
        s.result("1", "1")
        check(s.leave() == 0, "exit status")
        check("history" not in s.output, "a complaint")
    s = start()
    s.expect("> ")
    s.enter("1")
    s.expect("> ")
    path = s.folder + "/state/cbench/history"
    with open(path, "wb") as file:
        file.write(b"\xff\xfe\x00junk\n>> more\n" + b"x" * 100000 + b"\n")
    s = start(CBENCH_HISTORY=path)
    s.expect("> ")
    s.result("1", "1")


@edited
def pasted(start):
    "all lines of a paste run"
    s = start()
    s.expect("> ")
    s.send("a = 1\rb = 2\rfor i = 1, 1 do\rc = 3\rend\rprint(a + b + c)\r")
    s.expect("\r\n6\r\n> ")


@edited
def pasted_tabs(start):
    "a Tab in what is pasted is a Tab, and completes again after it"
    s = start()
    s.expect("> ")
    check("\x1b[?2004h" in s.raw, "nobody asks for brackets")
    s.send("\x1b[200~x = 'str\tb' y =\r\t2\r\tstr =\t#x +\ty\x1b[201~" + ENTER)
    s.expect("> ")
    s.result("str, x:byte(4), _G.string == string", "7\t9\ttrue")
    s.send("string.by" + TAB + "'A'" + ENTER)
    s.expect("\r\n65\r\n> ")
    s.send("\x1b[200~z = '\t")
    s.expect("z = '")
    s.send(CTRL_C)
    s.expect("> ")
    s.send("string.by" + TAB + "'B'" + ENTER)
    s.expect("\r\n66\r\n> ")
    check(s.leave() == 0, "exit status")
    check(s.raw.rfind("\x1b[?2004h") < s.raw.rfind("\x1b[?2004l"), "left on")


def letters(start):
    "characters beyond ASCII are kept"
    s = start(LANG="C")
    s.expect("> ")
    s.result("'äö→', #'ä'", "äö→\t2")
    s.result("os.setlocale()", "C")
    s.result("('ä'):byte(1, -1)", "195\t164")


def resized(start):
    "a half-typed line survives a new window size"
    s = start()
    s.expect("> ")
    s.send("1 + ")
    s.expect("1 + ")
    s.resize(30, 60)
    s.send("1" + ENTER)
    s.expect("\r\n2\r\n> ")


@edited
def narrow(start):
    "a terminal of 20 columns"
    s = start(columns=20)
    s.expect("> ")
    s.enter("{alpha = 1, beta = 2, gamma = 3}")
    s.expect("{\r\n  alpha = 1,\r\n  beta = 2,\r\n  gamma = 3\r\n}\r\n> ")
    s.send("string." + TAB)
    s.expect("byte")
    s.send(CTRL_C)
    s.expect("> ")


def no_escapes(start):
    "no escape sequence with NO_COLOR, TERM=dumb or without TERM"
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}):
        s = start(**env)
        s.expect("> ")
        s.result("1 + 1", "2")
        s.result("{a = 1}", "{a = 1}")
        s.enter("error 'x'")
        s.expect("x\r\n")
        s.expect("> ")
        s.enter("for i = 1, 2 do")
        s.expect(">> ")
        s.send(CTRL_C)
        s.expect("^C")
        s.expect("> ")
        check(s.leave() == 0, "exit status")
        check("\x1b" not in s.raw, "an escape with %r" % env)


def prompts(start):
    "_PROMPT and _PROMPT2"
    s = start("-i", "-e", "_PROMPT = 'p ' _PROMPT2 = 7")
    s.expect("p ")
    s.enter("x =")
    s.expect("\n7")
    s.enter("1")
    s.expect("p ")


def after_script(start):
    "-i after a script, and after one that fails"
    s = start("-i", "-e", "x = 3")
    s.expect("> ")
    s.result("x", "3")
    s.send(CTRL_D)
    check(s.end() == 0, "exit status")
    s = start("-i", "-e", "error 'x'")
    check(s.end() == 1, "exit status")
    check("> " not in s.output, "a prompt came")


def reading(start):
    "io.read reads what is typed next"
    s = start()
    s.expect("> ")
    s.enter("l = io.read()")
    s.expect("\r\n")
    s.enter("typed")
    s.expect("> ")
    s.result("l", "typed")


def stopped(start):
    "Ctrl-Z and back again"
    s = start()
    s.expect("> ")
    s.send("1 + ")
    s.expect("1 + ")
    os.kill(s.pid, 19)  # SIGSTOP
    os.waitpid(s.pid, os.WUNTRACED)
    os.kill(s.pid, 18)  # SIGCONT
    s.send("1" + ENTER)
    s.expect("\r\n2\r\n> ")


def help_topics(start):
    "help() lists topics, help(x) explains one, a wrong word is corrected"
    s = start()
    s.expect("> ")
    s.enter("help()")
    s.expect("explains one of these")
    s.expect("measure")
    s.expect("ticket")
    s.expect("> ")
    s.enter("help 'lock'")
    s.expect("kinds of the family 'lock'")
    s.expect("lock (workload)")
    s.expect("threads = 1")
    s.expect("1 .. ")
    s.expect("example:")
    s.expect("> ")
    s.enter("help(cbench.measure)")
    s.expect("cbench.measure(workload")
    s.expect("example:")
    s.expect("> ")
    s.enter("help(cbench.workload.chain)")
    s.expect("chain (workload)")
    s.expect("> ")
    s.enter("help 'mesure'")
    s.expect("did you mean 'measure'?")
    s.expect("> ")
    s.enter("help(print)")
    s.expect("no help on this function")


def own_globals(start):
    "the prompt goes on when the name _G is taken"
    s = start()
    s.expect("> ")
    s.enter("_G = 5")
    s.expect("\r\n> ")
    s.result("_G + 1", "6")
    s.result("_", "6")


def results(start):
    "a result is a table with units"
    s = start()
    s.expect("> ")
    s.enter("cbench.measure({cbench.workload.chain{}}, {time = 0.05})")
    s.expect("ticks/op")
    s.expect("chain")
    s.expect("> ")
    s.enter("cbench.measure(cbench.workload.chain{}, {time = 0.05})")
    s.expect("tick")
    s.expect("one process")
    text = s.expect("> ")
    check("\r\n\r\n> " not in (text or s.output), "an empty line at the end")


def measuring(start):
    "Ctrl-C ends a measurement with worker threads, here and elsewhere"
    for options in ("{time = 600}", "{time = 600, forks = 3}"):
        s = start()
        s.expect("> ")
        s.enter("t = {cbench.workload.chain{}, "
                "cbench.workload.atomic{threads = 2}}")
        s.expect("> ")
        s.enter("print 'on' r = cbench.measure(t, %s)" % options)
        s.expect("\r\non\r\n")
        s.send(CTRL_C)
        s.expect("> ")
        s.result("1 + 1", "2")


def not_fancy(start):
    "no banner, prompt or colour when stdin is a pipe"
    done = subprocess.run([os.environ["CBENCH"]], input=b"print(1)\n",
                          capture_output=True)
    check(done.stdout == b"1\n" and done.stderr == b"", repr(done))


run([values, greeting, silence, tables, lines, abandoned, interrupted,
     interrupted_coroutines, coroutines_as_ever, interrupted_show, end_of_input, errors, completion, completion_of_kinds,
     filled, completion_calls_nothing, indentation, history_file, history_recall,
     history_limit, history_unfinished, history_off,
     pasted, pasted_tabs, letters, resized, narrow, no_escapes,
     prompts, after_script, reading, stopped,
     help_topics, own_globals, results, measuring, not_fancy])
