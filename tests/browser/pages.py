"""Pages of results in a real browser: pages.py FOLDER CHROMIUM CHROMEDRIVER

FOLDER holds the pages; screenshots at 400 and 1400 pixels are left there.
Prints TAP.
"""

import pathlib
import sys

from driver import Browser

# What is on the page: visible pictures, whether it is wider than the screen,
# the smallest letters of the pictures on the screen.
LOOK = """
// What is shown on demand is looked at too.
const more = [...document.querySelectorAll('details.more')];
more.forEach(details => { details.open = true; });
const visible = e => { const box = e.getBoundingClientRect();
                       return box.width > 1 && box.height > 1; };
const pictures = [...document.querySelectorAll('figure svg')];
const shown = pictures.filter(visible);
const letters = shown.flatMap(svg => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll('text')].map(
    t => parseFloat(getComputedStyle(t).fontSize) * scale); });
const inside = shown.flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(t => {
    const box = t.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1 ||
           box.top < frame.top - 1 || box.bottom > frame.bottom + 1; })
    .map(t => t.textContent); });
const shapes = shown.filter(svg => svg.querySelector('path'));
const named = shown.every(
  svg => svg.getAttribute('aria-label')?.length > 20);
const overflow = document.documentElement.scrollWidth - innerWidth;
more.forEach(details => { details.open = false; });
return {
  title: document.querySelector('h1')?.textContent ?? '',
  figures: document.querySelectorAll('figure').length,
  shown: shown.length, shapes: shapes.length,
  outside: inside,
  smallest: letters.length ? Math.min(...letters) : 99,
  overflow: overflow,
  scripts: document.scripts.length,
  background: getComputedStyle(document.body).backgroundColor,
  words: document.body.innerText.length,
  named: named,
  tables: document.querySelectorAll('figure details table').length,
};
"""

count = 0


def check(name, good, why=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        print("# " + str(why)[:600].replace("\n", " "))


def faults(browser, url, width, dark=False):
    """What is wrong with a page, a list of sentences, and what was seen."""
    browser.open(url, width, dark=dark)
    seen = browser.evaluate(LOOK)
    found = [f"console: {m}" for m in browser.complaints()]
    found += [f"request: {r}" for r in browser.requests()]
    if seen["shown"] != seen["figures"]:
        found.append(f"{seen['shown']} of {seen['figures']} pictures shown")
    if seen["shapes"] != seen["shown"]:
        found.append("a picture has nothing in it")
    if seen["tables"] != seen["figures"]:
        found.append("a picture without its data")
    if not seen["named"]:
        found.append("a picture without words")
    if seen["overflow"] > 0:
        found.append(f"{seen['overflow']} pixels too wide")
    if seen["outside"]:
        found.append(f"text beyond its picture: {seen['outside'][:5]}")
    if seen["smallest"] < 10:
        found.append(f"letters of {seen['smallest']:.1f} pixels")
    if seen["scripts"]:
        found.append("scripts")
    return found, seen


def brightness(colour):
    return sum(int(part) for part in
               colour[colour.index("(") + 1:-1].split(",")[:3])


def check_page(browser, folder, page):
    url = page.as_uri()
    for width in (1400, 400):
        found, seen = faults(browser, url, width)
        check(f"{page.stem} at {width} pixels", not found, found)
        browser.screenshot(str(folder / f"{page.stem}-{width}.png"))
    check(f"{page.stem} has something to see", seen["words"] > 200, seen)
    found, dark = faults(browser, url, 1400, dark=True)
    browser.screenshot(str(folder / f"{page.stem}-dark.png"))
    check(f"{page.stem} in the dark", not found and
          brightness(dark["background"]) < 150 <
          brightness(seen["background"]), found or dark)
    paper = browser.pdf()
    check(f"{page.stem} on paper", paper.startswith(b"%PDF") and
          len(paper) > 5000, len(paper))


def check_control(browser, folder):
    """The checks must be able to fail."""
    page = folder / "control.html"
    page.write_text("""<!doctype html><title>x</title><h1>x</h1>
      <div style="width:3000px">wide</div><img src="http://127.0.0.1:9/x.png">
      <script>console.error("loud")</script>
      <figure><svg width="0" height="0" viewBox="0 0 1 1"></svg></figure>
      <figure><svg width="60" height="30" viewBox="0 0 600 300">
        <text x="590" y="20">beyond</text></svg></figure>""")
    found, _ = faults(browser, page.as_uri(), 400)
    page.unlink()
    for words in ("console: ", "request: http://127.0.0.1:9", "1 of 2 pict",
                  "nothing in it", "without its data", "without words",
                  "too wide", "beyond its picture", "letters of", "scripts"):
        check(f"a bad page is found out: {words}",
              any(words in fault for fault in found), found)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    with Browser(sys.argv[2], sys.argv[3]) as browser:
        check_control(browser, folder)
        for page in sorted(folder.glob("*.html")):
            check_page(browser, folder, page)
        browser.open((folder / "nasty.html").as_uri(), 1400)
        title = browser.evaluate(LOOK)["title"]
        check("a nasty title is read as it was written",
              title.startswith("</title><script>alert("), title)
    print(f"1..{count}")


main()
