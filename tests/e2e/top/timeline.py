#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: timeline.py FOLDER

Opens the pages known.html, hostile.html, minute.html, shop.html and top.html of FOLDER
in a browser. Prints a line for each case, "ok SENTENCE" or "not SENTENCE: why", and
"show WHAT" for figures.
"""
import base64
import io
import re
import sys

from browser import Browser
from colours import contrast, nearest
from PIL import Image

folder = sys.argv[1]
browser = Browser(folder + "/profile")


def same(sentence, expected, actual):
    print(f"ok {sentence}" if expected == actual else f"not {sentence}: expected {expected!r}, got {actual!r}")


def holds(sentence, truth, why=""):
    print(f"ok {sentence}" if truth else f"not {sentence}: {why!r}")


def picture(name, **more):
    data = browser.call("Page.captureScreenshot", format="png", **more)["data"]
    # 256 colours are enough for a page without photographs.
    image = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    image.quantize(256).save(f"{folder}/{name}.png", optimize=True)


def texts(selector):
    return browser.evaluate(f"[...document.querySelectorAll({selector!r})].map(one => one.textContent)")


def text(selector):
    return browser.evaluate(f"(one => one.hidden ? '' : one.textContent)(document.querySelector({selector!r}))")


def place(row, ms, whole=1000):
    """Where the page has this time of a row, when it shows everything."""
    area = browser.evaluate(f"""(() => {{
        const canvas = document.querySelectorAll('.row canvas')[{row}];
        canvas.scrollIntoView({{block: 'nearest'}});
        return canvas.getBoundingClientRect().toJSON();
    }})()""")
    return area["x"] + area["width"] * ms / whole, area["y"] + area["height"] / 2


def hover(row, ms):
    browser.mouse("mouseMoved", *place(row, ms))
    return text("#tip")


def click(row, ms):
    browser.click(*place(row, ms))


def pixel(row, ms, up=-7):
    """The colour that the row's canvas has there, as [r, g, b, a]."""
    return browser.evaluate(f"""(() => {{
        const canvas = document.querySelectorAll('.row canvas')[{row}];
        const pen = canvas.getContext('2d'), x = Math.round(canvas.width * {ms} / 1000);
        return [...pen.getImageData(x, Math.round(canvas.height / 2 + {up}), 1, 1).data];
    }})()""")


def highlighted():
    return texts(".row.has .name")


def harmless(name):
    # That the tests read pixels is no fault of the page.
    same(f"{name}: the browser has nothing to complain about", [],
         [one for one in browser.complaints if not one.startswith("Canvas2D: Multiple readback")])
    same(f"{name}: nothing is requested but the page", [f"file://{folder}/{name}.html"], browser.requests)


def structure():
    same("the heading names the services", ["shop, cart"], texts("h1"))
    same("a process has its service, its pid and its command",
         ["shop pid 100 python3 app.py", "cart pid 200 ./cart", "sh pid 50 sh"], texts(".process h2"))
    same("and its other resource attributes", ["service.instance.idone", "service.instance.idtwo"],
         texts(".process dl div"))
    same("threads stand below their process", [["main 100", "worker 101"], ["cart 200"], ["sh 50"]],
         browser.evaluate("[...document.querySelectorAll('.process')].map(one => "
                          "[...one.querySelectorAll('.name')].map(name => name.textContent))"))
    same("facts are told", ["1.00 s at 99 Hz", "67 samples", "3 processes", "4 threads", "2 traces", "build-7 host",
                            "2025-11-23 04:32:25 UTC start"],
         texts(".facts li"))
    rows = browser.evaluate("[...document.querySelectorAll('table')].map(table => [...table.querySelectorAll("
                            "'tbody tr')].map(row => [...row.cells].map(cell => cell.textContent.trim())))")
    same("the table by service has every number", [
        ["shop", "0.430", "67.2 %", "0.460", "46", "2", "0.300"],
        ["http.route=/cart", "0.230", "35.9 %", "0.230", "23", "1", "0.300"],
        ["no attributes", "0.100", "15.6 %", "0.130", "13", "1", "0.130"],
        ["no context: detached", "0.100", "15.6 %", "0.100", "10", "1", ""],
        ["cart", "0.200", "31.2 %", "0.200", "20", "1", "0.100"],
        ["http.route=/items", "0.100", "15.6 %", "0.100", "10", "1", "0.100"],
        ["no context: untouched", "0.100", "15.6 %", "0.100", "10", "1", ""],
        ["no service name", "0.010", "1.6 %", "0.010", "1", "1", ""],
        ["no context: no_process_context", "0.010", "1.6 %", "0.010", "1", "1", ""],
    ], rows[0])
    same("and so has the table by trace", [
        ["1" * 32, "0.330", "51.6 %", "0.330", "33", "2", "0.300"],
        ["no context", "0.210", "32.8 %", "0.210", "21", "3", ""],
        ["2" * 32, "0.100", "15.6 %", "0.130", "13", "1", "0.130"],
    ], rows[1])


def walk():
    """The boxes, as the keyboard alone tells them."""
    said = []
    browser.evaluate("document.querySelector('#all').focus()")
    browser.key("Tab")
    for row in range(3):
        browser.key("ArrowDown" if row else "Home")
        browser.key("Home")
        while not said or said[-1] != text("#said"):
            said.append(text("#said"))
            browser.key("ArrowRight")
    same("the keyboard walks through every stretch", [
        (f"/cart, trace {'1' * 32}, span {'a' * 16}, flags 01 (sampled), http.route /cart, thread main 100, "
         "time 0.1000 s to 0.2500 s, length 150.0 ms, CPU 130.0 ms, wall 130.0 ms, samples 13"),
        (f"/cart, trace {'1' * 32}, span {'a' * 16}, flags 01 (sampled), http.route /cart, thread main 100, "
         "time 0.3000 s to 0.4000 s, length 100.0 ms, CPU 100.0 ms, wall 100.0 ms, samples 10"),
        ("no context: detached, thread worker 101, time 0.2000 s to 0.3000 s, length 100.0 ms, "
         "CPU 100.0 ms, wall 100.0 ms, samples 10"),
        (f"span {'c' * 16}, trace {'2' * 32}, span {'c' * 16}, flags 01 (sampled), thread worker 101, "
         "time 0.3000 s to 0.4300 s, length 130.0 ms, CPU 100.0 ms, wall 130.0 ms, samples 13, 10 of them running"),
        (f"/items, trace {'1' * 32}, span {'b' * 16}, flags 01 (sampled), http.route /items, thread cart 200, "
         "time 0.5000 s to 0.6000 s, length 100.0 ms, CPU 100.0 ms, wall 100.0 ms, samples 10"),
        ("no context: untouched, thread cart 200, time 0.9000 s to 1.0000 s, length 100.0 ms, "
         "CPU 100.0 ms, wall 100.0 ms, samples 10"),
    ], said)
    browser.key("ArrowLeft")
    browser.key("Enter")
    same("Enter highlights the trace", ["main 100", "cart 200"], highlighted())
    browser.key("Enter")
    same("and undoes that", [], highlighted())
    browser.key("Escape")


def pointer():
    same("pointing at a stretch tells what it is", "/carttrace" + "1" * 32 + "span" + "a" * 16 + "flags01 (sampled)"
         "http.route/cartthreadmain 100time0.1000 s to 0.2500 slength150.0 msCPU130.0 mswall130.0 mssamples13",
         hover(0, 150))
    same("pointing at nothing tells nothing", "", hover(0, 280))
    holds("a stretch without context says why", hover(1, 250).startswith("no context: detached"), text("#tip"))
    click(0, 150)
    same("a click highlights the trace in both processes", ["main 100", "cart 200"], highlighted())
    holds("and sums it up", "3 stretches on 2 threads of 2 processes, 330.0 ms of CPU" in text("#chosen"),
          text("#chosen"))
    same("its row of the table is marked", ["1" * 32], texts("tr.has code"))
    holds("other traces fade", pixel(1, 350)[3] < 60 and pixel(2, 550)[3] == 255, (pixel(1, 350), pixel(2, 550)))
    click(0, 350)
    same("a second click undoes it", [], highlighted())
    click(2, 550)
    browser.key("Escape")
    same("so does Escape", ([], ""), (highlighted(), text("#chosen")))
    click(0, 150)
    click(1, 350)
    same("a click on another trace changes to that", ["worker 101"], highlighted())
    click(0, 280)
    same("a click on nothing undoes it", [], highlighted())
    browser.evaluate(f"[...document.querySelectorAll('code.trace')][0].closest('tr').click()")
    same("a click in the table highlights, too", ["main 100", "cart 200"], highlighted())
    browser.key("Escape")


def palette():
    script = browser.evaluate("document.scripts[1].textContent")
    return (re.findall("#[0-9a-f]{6}", re.search(r"COLOURS = (\[.*\])", script).group(1)),
            re.search("INK = '(#[0-9a-f]{6})'", script).group(1))


def looks():
    """Each trace of the table has a colour of the palette."""
    colours, _ = palette()
    seen = browser.evaluate("""[...document.querySelectorAll('tr .swatch')].map(canvas => {
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data, counts = {};
        for (let i = 0; i < data.length; i += 4) {
            const colour = '#' + [...data.slice(i, i + 3)].map(one => one.toString(16).padStart(2, '0')).join('');
            counts[colour] = (counts[colour] || 0) + 1;
        }
        return Object.keys(counts).sort((a, b) => counts[b] - counts[a])[0];
    })""")
    same("shop: each trace has a colour of the palette", [], [one for one in seen if one not in colours])
    holds("shop: and there are many of them", len(set(seen)) > 4 and len(seen) == 31, seen)


def colours():
    one, again, other, none = pixel(0, 150), pixel(2, 550), pixel(1, 350), pixel(1, 250, 0)
    same("a trace has one colour in all processes", one, again)
    holds("another trace has another one", one != other, (one, other))
    holds("what has no context is grey", max(none[:3]) - min(none[:3]) < 30, none)
    same("and where nothing was sampled there is nothing", 0, pixel(0, 280)[3])
    listed, ink = palette()
    apart = nearest(listed)
    same("there are seven colours", 7, len(listed))
    holds("the colour-blind tell all of them apart", min(apart.values()) > 20, apart)
    holds("and letters on them have contrast", min(contrast(one, ink) for one in listed) >= 4.5, listed)


def moving():
    def shown():
        return browser.evaluate("""(() => {
            const canvas = document.querySelector('.row canvas'), pen = canvas.getContext('2d');
            const data = pen.getImageData(0, 4, canvas.width, 1).data, edges = [];
            const filled = x => data[4 * x + 3] === 255 && data[4 * x] + data[4 * x + 1] + data[4 * x + 2] < 640;
            for (let x = 1; x < canvas.width; x++)
                if (filled(x) !== filled(x - 1))
                    edges.push(x / canvas.width);
            return edges;
        })()""")

    def near(actual, expected):
        return len(actual) == len(expected) and all(abs(a - b) < .012 for a, b in zip(actual, expected))

    all_shown = shown()
    holds("boxes are where their times are", near(all_shown, [.1, .25, .3, .4]), all_shown)
    x, y = place(0, 200)
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200, modifiers=2)
    zoomed = shown()
    factor = 1.0025 ** 200
    holds("Ctrl and the wheel zoom, around the pointer",
          near(zoomed, [.2 + (at - .2) * factor for at in (.1, .25, .3, .4)]), zoomed)
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=100, modifiers=8)
    width = browser.evaluate("document.querySelector('#axis').clientWidth")
    moved = [at - 100 / width for at in zoomed]
    holds("Shift and the wheel move", near(shown(), [at for at in moved if at > 0]), (moved, shown()))
    browser.key("0")
    holds("0 shows everything", near(shown(), all_shown), shown())
    for key, undo in ("+", "-"), ("w", "s"):
        browser.key(key)
        holds(f"{key} zooms in", near(shown()[:1], [.5 + (.25 - .5) * 1.5][:1]) or len(shown()) != 4 or
              shown()[1] - shown()[0] > .2, shown())
        browser.key(undo)
        holds(f"{undo} zooms out", near(shown(), all_shown), shown())
    browser.key("w")
    before = shown()
    browser.key("a")
    holds("a moves back", shown()[-1] > before[-1] + .1, (before, shown()))
    browser.key("d")
    holds("d moves on", near(shown(), before), (before, shown()))
    x, y = place(0, 500)
    browser.mouse("mouseMoved", x, y)
    browser.mouse("mousePressed", x, y, button="left", clickCount=1)
    browser.mouse("mouseMoved", x + 150, y, button="left", buttons=1)
    browser.mouse("mouseReleased", x + 150, y, button="left", clickCount=1)
    holds("dragging moves", shown()[-1] > before[-1] + .1, (before, shown()))
    same("and highlights nothing", [], highlighted())
    browser.evaluate("document.querySelector('#all').click()")
    browser.settle()
    holds("the button shows everything", near(shown(), all_shown), shown())
    click(2, 550)
    browser.key("f")
    fitted = shown()
    holds("f zooms to the trace", len(fitted) == 4 and .03 < fitted[0] < .07, fitted)
    browser.key("Escape")
    browser.key("0")


def media():
    def ground():
        return browser.evaluate("getComputedStyle(document.body).backgroundColor")

    light, light_none = ground(), pixel(1, 250, 3)
    browser.media(scheme="dark")
    dark_none = pixel(1, 250, 3)
    same("dark follows what the system prefers", ("rgb(255, 255, 255)", "rgb(18, 23, 30)"), (light, ground()))
    holds("in the picture, too", sum(dark_none[:3]) < sum(light_none[:3]) - 90, (light_none, dark_none))
    browser.media("print", "dark")
    same("what is printed is on white paper", "rgb(255, 255, 255)", ground())
    same("with the light picture", light_none, pixel(1, 250, 3))
    same("and without buttons", "none", browser.evaluate(
        "getComputedStyle(document.querySelector('#buttons button')).display"))
    browser.media()
    same("afterwards the page is what it was", (light, light_none), (ground(), pixel(1, 250, 3)))


def accessible():
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    told = [(node.get("role", {}).get("value"), node.get("name", {}).get("value")) for node in nodes]
    same("a screen reader finds the threads", [
        "main 100: 2 stretches, 230.0 ms of CPU", "worker 101: 2 stretches, 200.0 ms of CPU",
        "cart 200: 2 stretches, 200.0 ms of CPU", "sh 50: 1 stretch, 10.0 ms of CPU"],
        [name for role, name in told if role in ("image", "img") and "stretch" in (name or "")])
    same("the tables, by their captions", {"By service and attributes", "By trace"},
         {name for role, name in told if role == "table"})


def policy():
    browser.evaluate("""(() => {
        const script = document.createElement('script');
        script.textContent = 'window.attacked = true';
        document.body.append(script);
        document.body.insertAdjacentHTML('beforeend', '<img src="file:///x.png" onerror="window.attacked = true">');
    })()""")
    browser.settle()
    same("the policy lets no other script run", None, browser.evaluate("window.attacked"))
    holds("and the browser tells that it refused", any("Content Security Policy" in one or "violates" in one
                                                       for one in browser.complaints), browser.complaints)


def hostile():
    same("hostile: nothing of it became an element", [0, 2, 0], browser.evaluate(
        "['img', 'script', '[onload], [onerror], [style]'].map(one => document.querySelectorAll(one).length)"))
    names = texts(".process h2")
    holds("hostile: names are shown as they are", names[0].startswith("</script><img src=x onerror=attack()> pid 10"),
          names[0])
    holds("hostile: without what reorders text", names[5].startswith("\ufffdtxt.exe"), names[5])
    holds("hostile: a box tells them as text", "</script><img src=x onerror=attack()>" in hover(0, 200), text("#tip"))


def minute():
    show = browser.evaluate("document.documentElement.dataset.ready")
    load = browser.evaluate("(one => one.loadEventEnd)(performance.getEntriesByType('navigation')[0])")
    drawn = browser.evaluate("""(async () => {
        const start = performance.now();
        document.querySelector('#in').click();
        await new Promise(done => requestAnimationFrame(() => done()));
        const time = performance.now() - start;
        document.querySelector('#all').click();
        return time;
    })()""")
    print(f"show minute.html: ready after {show} ms, load event after {load:.0f} ms, "
          f"zooms in {drawn:.0f} ms")
    browser.settle()
    same("minute: 50 threads", 50, len(texts(".row .name")))
    same("minute: 297,000 samples", "297,000 samples", texts(".facts li")[1])
    click(7, 431)
    holds("minute: a click finds its trace", "on 3 threads" in text("#chosen"), text("#chosen"))
    browser.key("Escape")
    holds("minute: threads that are not on the screen have no picture in memory", browser.evaluate(
        "document.querySelectorAll('.row canvas')[49].width") in (0, 300), "")
    browser.media("print")
    same("minute: on paper all threads have theirs", True, browser.evaluate(
        "[...document.querySelectorAll('.row canvas')].every(canvas => canvas.getContext('2d').getImageData("
        "Math.round(canvas.width / 2), Math.round(canvas.height / 2), 1, 1).data[3] === 255)"))
    browser.media()


browser.open(folder + "/known.html")
for part in structure, accessible, pointer, walk, colours, moving, media:
    part()
harmless("known")
policy()
browser.open(folder + "/hostile.html")
hostile()
harmless("hostile")
browser.open(folder + "/minute.html", height=700)
minute()
harmless("minute")
browser.open(folder + "/shop.html", width=1200, height=655)
whole = browser.evaluate("JSON.parse(document.querySelector('#data').textContent).end / 100")
picture("timeline")
looks()
browser.mouse("mouseMoved", *place(3, 1070, whole))
picture("timeline-tip")
browser.media(scheme="dark")
browser.click(*place(8, 750, whole))
browser.mouse("mouseMoved", 5, 5)
picture("timeline-dark")
browser.media("print")
pdf = base64.b64decode(browser.call("Page.printToPDF", landscape=True, printBackground=True)["data"])
open(f"{folder}/shop.pdf", "wb").write(pdf)
browser.media()
holds("shop: it prints", pdf.startswith(b"%PDF") and len(pdf) > 20000, len(pdf))
harmless("shop")
browser.open(folder + "/top.html", width=880, height=235)
picture("top")
browser.close()
