/* SPDX-License-Identifier: Apache-2.0 */
'use strict';
(() => {
    const byId = id => document.getElementById(id);
    const data = JSON.parse(byId('data').textContent);

    /* The parts that pack.h describes. */
    class Bytes {
        constructor(text) {
            const binary = atob(text);
            this.bytes = new Uint8Array(binary.length);
            for (let i = 0; i < binary.length; i++)
                this.bytes[i] = binary.charCodeAt(i);
            this.at = 0;
        }
        byte() {
            return this.bytes[this.at++];
        }
        number() {
            let byte = this.bytes[this.at++], number = byte & 127, scale = 128;
            while (byte > 127) {
                byte = this.bytes[this.at++];
                number += (byte & 127) * scale;
                scale *= 128;
            }
            return number;
        }
        signed() {
            const number = this.number();
            return number % 2 ? -(number + 1) / 2 : number / 2;
        }
        hex(at, size) {
            let text = '';
            for (let i = at; i < at + size; i++)
                text += this.bytes[i].toString(16).padStart(2, '0');
            return text;
        }
    }

    const canvases = [...document.querySelectorAll('.row canvas')];
    const traceIds = new Bytes(data.traces);
    const spans = unpackSpans(new Bytes(data.spans), data.spanCount);
    const boxes = unpackBoxes(new Bytes(data.boxes), data.boxCount);

    function unpackSpans(bytes, count) {
        const spans = {
            bytes, id: new Uint32Array(count), flags: new Uint8Array(count), set: new Uint32Array(count),
            trace: new Uint32Array(count),
        };
        let traces = 0;
        for (let i = 0; i < count; i++) {
            spans.id[i] = bytes.at;
            bytes.at += 8;
            spans.flags[i] = bytes.byte();
            spans.set[i] = bytes.number();
            const back = bytes.number();
            spans.trace[i] = back ? traces - back : traces++;
        }
        return spans;
    }

    /* The boxes of row r are those from first[r] to before first[r + 1]. span: -1 - reason where there is none. */
    function unpackBoxes(bytes, count) {
        const boxes = {
            first: new Uint32Array(canvases.length + 1), start: new Float64Array(count), end: new Float64Array(count),
            span: new Int32Array(count), cpu: new Float64Array(count), wall: new Float64Array(count),
            samples: new Uint32Array(count), running: new Uint32Array(count),
        };
        let i = 0, newest = 0;
        for (let row = 0; row < canvases.length; row++) {
            let at = 0;
            boxes.first[row] = i;
            for (let left = bytes.number(); left > 0; left--, i++) {
                const flags = bytes.byte(), length = bytes.number();
                at += flags & 1 ? bytes.number() : 0;
                const wall = length + (flags & 2 ? bytes.signed() : 0);
                const usual = Math.max(1, Math.floor(length * data.hz * data.unit_ns / 1e9 + .5));
                const samples = flags & 4 ? bytes.number() : usual;
                const stopped = flags & 8 ? bytes.number() : 0;
                let span = newest;
                if (flags & 16) {
                    const context = bytes.number();
                    span = context % 2 ? newest - (context - 1) / 2 : -1 - context / 2;
                } else {
                    newest++;
                }
                boxes.start[i] = at;
                boxes.end[i] = at += length;
                boxes.span[i] = span;
                boxes.cpu[i] = wall - bytes.signed();
                boxes.wall[i] = wall;
                boxes.samples[i] = samples;
                boxes.running[i] = samples - stopped;
            }
        }
        boxes.first[canvases.length] = i;
        return boxes;
    }

    const traceOf = box => boxes.span[box] < 0 ? -1 : spans.trace[boxes.span[box]];
    const traceName = trace => traceIds.hex(16 * trace, 16);

    /*
     * A trace's look comes from its id, so that it is the same in every recording: one of seven colours, which the
     * colour-blind tell apart and on which dark text is readable, and one of six patterns.
     */
    const COLOURS = ['#7697e5', '#fe8b51', '#f9e09b', '#ee97c4', '#38ba84', '#84e7ff', '#c1e235'];
    const PATTERNS = ['plain', 'up', 'down', 'dots', 'upright', 'level'];
    const INK = '#14181d', STRIPE = 'rgb(0 0 0 / .2)';

    function lookOf(trace) {
        let hash = 0x811c9dc5;
        for (let i = 16 * trace; i < 16 * trace + 16; i++)
            hash = Math.imul(hash ^ traceIds.bytes[i], 0x01000193) >>> 0;
        hash = (hash ^ hash >>> 15) >>> 0;
        return {colour: COLOURS[hash % 7], pattern: PATTERNS[(hash >>> 8) % PATTERNS.length]};
    }

    let ratio, theme;
    const patterns = new Map();

    function patternMade(name) {
        const tile = document.createElement('canvas'), size = Math.round(8 * ratio);
        tile.width = tile.height = size;
        const pen = tile.getContext('2d');
        pen.strokeStyle = pen.fillStyle = name === 'none' ? theme.noneLine : STRIPE;
        pen.lineWidth = size / 6;
        pen.beginPath();
        if (name === 'up' || name === 'none')
            for (const from of [-size, 0, size])
                pen.moveTo(from, size), pen.lineTo(from + size, 0);
        else if (name === 'down')
            for (const from of [-size, 0, size])
                pen.moveTo(from, 0), pen.lineTo(from + size, size);
        else if (name === 'upright')
            pen.moveTo(size / 2, 0), pen.lineTo(size / 2, size);
        else if (name === 'level')
            pen.moveTo(0, size / 2), pen.lineTo(size, size / 2);
        else
            for (const [x, y] of [[.25, .25], [.75, .75]])
                pen.moveTo(x * size, y * size), pen.arc(x * size, y * size, size / 7, 0, 7);
        if (name === 'none')
            pen.lineWidth = size / 10;
        name === 'dots' ? pen.fill() : pen.stroke();
        return pen.createPattern(tile, 'repeat');
    }
    function patternOf(name) {
        if (!patterns.has(name))
            patterns.set(name, patternMade(name));
        return patterns.get(name);
    }
    function readTheme() {
        const style = getComputedStyle(document.documentElement), value = name => style.getPropertyValue(name).trim();
        ratio = printing() ? 2 : window.devicePixelRatio || 1;
        theme = {
            ink: value('--ink'), soft: value('--soft'), line: value('--line'), none: value('--none'),
            noneLine: value('--none-line'), accent: value('--accent'),
            mono: '10.5px ui-monospace, "DejaVu Sans Mono", monospace',
            text: '11px system-ui, "DejaVu Sans", sans-serif',
        };
        patterns.clear();
    }

    /* The time that is shown, in units. */
    const view = {from: 0, to: data.end};
    let chosen = -1;          /* trace */
    let current = -1;         /* box of the keyboard */
    let currentRow = 0;
    const visible = new Set();
    const media = window.matchMedia('print');
    let beforePrint = false;

    function printing() {
        return media.matches || beforePrint;
    }

    /* The width is asked for once a drawing: after each change the browser would have to lay out the page again. */
    function canvasReady(canvas, width, height) {
        canvas.width = Math.max(1, Math.round(width * ratio));
        canvas.height = Math.round(height * ratio);
        const pen = canvas.getContext('2d');
        pen.scale(ratio, ratio);
        return pen;
    }

    /* The first box of the row that ends behind the time. */
    function firstBehind(row, time) {
        let low = boxes.first[row], high = boxes.first[row + 1];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (boxes.end[middle] < time)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    function fillBox(pen, x, y, width, height, look) {
        pen.beginPath();
        if (width > 5)
            pen.roundRect(x, y, width, height, 2.5);
        else
            pen.rect(x, y, width, height);
        pen.fillStyle = look.colour;
        pen.fill();
        if (look.pattern !== 'plain' && width > 4) {
            pen.fillStyle = patternOf(look.pattern);
            pen.save();
            pen.setTransform(1, 0, 0, 1, 0, 0);
            pen.fill();
            pen.restore();
        }
    }

    function labelOf(box) {
        const set = data.sets[spans.set[boxes.span[box]]];
        const route = set.find(pair => pair[0] === 'http.route') || set[0];
        return route ? route[1] : '';
    }

    /* The attribute, and where there is room, the beginning of the trace id. */
    function drawLabel(pen, box, x, right, look) {
        const id = traceName(traceOf(box)).slice(0, 6);
        const place = (text, font, left, least) => {
            pen.font = font;
            const fits = text => left + pen.measureText(text).width <= right - 4;
            if (!fits(text)) {
                let letters = text.length - 1;
                while (letters >= least && !fits(text.slice(0, letters) + '…'))
                    letters--;
                if (letters < least)
                    return left;
                text = text.slice(0, letters) + '…';
            }
            const size = pen.measureText(text).width;
            if (look.pattern !== 'plain') {
                pen.fillStyle = look.colour;
                pen.fillRect(left - 2, 5, size + 4, 14);
            }
            pen.fillStyle = INK;
            pen.fillText(text, left, 12.5);
            return left + size + 7;
        };
        pen.textBaseline = 'middle';
        const text = labelOf(box);
        let left = x + 5;
        if (text)
            left = place(text.slice(0, 60), theme.text, left, 3);
        if (!text || left > x + 5)
            place(id, theme.mono, left, 6);
    }

    function drawBox(pen, box, x, width) {
        const trace = traceOf(box), faded = chosen >= 0 && trace !== chosen;
        if (trace === chosen && trace >= 0)
            width = Math.max(width, 3);
        pen.globalAlpha = faded ? .16 : 1;
        if (trace < 0) {
            pen.fillStyle = theme.none;
            pen.fillRect(x, 8, width, 8);
            if (width > 4) {
                pen.fillStyle = patternOf('none');
                pen.fillRect(x, 8, width, 8);
            }
        } else {
            const look = lookOf(trace), gap = width > 3 ? 1 : 0;
            fillBox(pen, x, 2, width - gap, 20, look);
            if (trace === chosen && width > 6) {
                pen.strokeStyle = theme.ink;
                pen.lineWidth = 1.5;
                pen.beginPath();
                pen.roundRect(x + .75, 2.75, width - gap - 1.5, 18.5, 2.5);
                pen.stroke();
            }
            if (width > 26 && !faded)
                drawLabel(pen, box, Math.max(x, 0), Math.min(x + width, pen.canvas.width / ratio), look);
        }
        pen.globalAlpha = 1;
        if (box === current) {
            pen.strokeStyle = theme.accent;
            pen.lineWidth = 2;
            pen.strokeRect(x, 1, Math.max(width - 1, 3), 22);
        }
    }

    function drawRow(row, width) {
        const pen = canvasReady(canvases[row], width, 23);
        const scale = width / (view.to - view.from);
        pen.fillStyle = theme.line;
        for (const tick of ticks(width).at)
            pen.fillRect(Math.round((tick - view.from) * scale), 0, 1, 23);

        /* Of boxes that share a pixel, the longest has it; those of the chosen trace come first. */
        let column = -1, best = -1, weight = -1;
        const flush = () => {
            if (best >= 0)
                drawBox(pen, best, column, 1);
            best = weight = -1;
        };
        for (let box = firstBehind(row, view.from); box < boxes.first[row + 1]; box++) {
            if (boxes.start[box] > view.to)
                break;
            const x = (boxes.start[box] - view.from) * scale, right = (boxes.end[box] - view.from) * scale;
            if (right - x >= 1.5) {
                flush();
                drawBox(pen, box, x, right - x);
                continue;
            }
            const value = boxes.end[box] - boxes.start[box] + (chosen >= 0 && traceOf(box) === chosen ? Infinity : 0);
            if (Math.floor(x) !== column)
                flush();
            column = Math.floor(x);
            if (value > weight)
                best = box, weight = value;
        }
        flush();
        canvases[row].parentElement.classList.toggle('has', chosen >= 0 && rowsOfChosen.has(row));
    }

    /* The lines of the axis: at most one each 90 pixels. */
    function ticks(width) {
        const least = (view.to - view.from) * 90 / Math.max(width, 90);
        let step = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
        step *= [1, 2, 5, 10].find(factor => step * factor >= least) || 10;
        step = Math.max(step, 1);
        const at = [];
        for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step)
            at.push(tick);
        return {step, at};
    }

    function timeText(units, digits) {
        const seconds = units * data.unit_ns / 1e9;
        if (digits !== undefined)
            return seconds.toFixed(digits) + ' s';
        if (seconds < .00095)
            return (seconds * 1e6).toFixed(0) + ' µs';
        return seconds < .99995 ? (seconds * 1e3).toFixed(1) + ' ms' : seconds.toFixed(3) + ' s';
    }

    function drawAxis(width) {
        const pen = canvasReady(byId('axis'), width, 34), {step, at} = ticks(width);
        const scale = width / (view.to - view.from);
        const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(step * data.unit_ns / 1e9) + 1e-9)));
        pen.font = theme.text;
        pen.textBaseline = 'middle';
        for (const tick of at) {
            const x = Math.round((tick - view.from) * scale), text = timeText(tick, digits);
            pen.fillStyle = theme.line;
            pen.fillRect(x, 20, 1, 14);
            pen.fillStyle = theme.soft;
            if (x + 4 + pen.measureText(text).width <= width)
                pen.fillText(text, x + 4, 27);
        }
        /* Which part of the whole is shown. */
        pen.fillStyle = theme.line;
        pen.fillRect(0, 8, width, 4);
        pen.fillStyle = view.to - view.from < data.end ? theme.accent : theme.line;
        const left = width * view.from / data.end;
        pen.fillRect(left, 8, Math.max(3, width * view.to / data.end - left), 4);
    }

    function drawSwatch(canvas, look) {
        const width = 34, pen = canvasReady(canvas, width, 14);
        if (look === 'none') {
            pen.fillStyle = theme.none;
            pen.fillRect(0, 3, width, 8);
            pen.fillStyle = patternOf('none');
            pen.fillRect(0, 3, width, 8);
        } else if (look) {
            fillBox(pen, 0, 0, width, 14, look);
        } else {
            pen.fillStyle = theme.line;
            pen.fillRect(0, 7, width, 1);
        }
    }

    const swatches = new Map();
    function drawSwatches() {
        for (const [canvas, look] of swatches)
            drawSwatch(canvas, look);
    }

    let drawing = 0;
    function drawAll() {
        drawing = 0;
        const width = byId('axis').clientWidth;
        drawAxis(width);
        for (const row of printing() ? canvases.keys() : visible)
            drawRow(row, width);
    }
    function draw() {
        drawing = drawing || requestAnimationFrame(drawAll);
    }
    function redress() {
        readTheme();
        drawAll();
        drawSwatches();
    }

    /* The window keeps its size at the edges of the recording. */
    const LEAST = 20;
    function show(from, to) {
        const size = Math.min(Math.max(to - from, Math.min(LEAST, data.end)), data.end);
        from = Math.min(Math.max((from + to - size) / 2, 0), data.end - size);
        view.from = from;
        view.to = from + size;
        draw();
    }
    function zoom(factor, around) {
        const at = around === undefined ? (view.from + view.to) / 2 : around;
        show(at - (at - view.from) * factor, at + (view.to - at) * factor);
    }
    function pan(part) {
        const by = (view.to - view.from) * part;
        show(view.from + by, view.to + by);
    }
    function fit(boxList) {
        let from = Infinity, to = 0;
        for (const box of boxList) {
            from = Math.min(from, boxes.start[box]);
            to = Math.max(to, boxes.end[box]);
        }
        const margin = (to - from) / 20 + 5;
        if (from <= to)
            show(from - margin, to + margin);
    }

    /* Text about a box: the same for the pointer and for screen readers. */
    function facts(box, row) {
        const span = boxes.span[box], name = canvases[row].parentElement.firstElementChild.textContent;
        const list = [];
        if (span >= 0) {
            list.push(['trace', traceName(spans.trace[span])], ['span', spans.bytes.hex(spans.id[span], 8)]);
            const flags = spans.flags[span];
            list.push(['flags', flags.toString(16).padStart(2, '0') + (flags & 1 ? ' (sampled)' : '')]);
            list.push(...data.sets[spans.set[span]]);
        }
        list.push(['thread', name]);
        list.push(['time', `${timeText(boxes.start[box], 4)} to ${timeText(boxes.end[box], 4)}`]);
        list.push(['length', timeText(boxes.end[box] - boxes.start[box])]);
        list.push(['CPU', timeText(boxes.cpu[box])], ['wall', timeText(boxes.wall[box])]);
        list.push(['samples', boxes.samples[box] + (boxes.running[box] < boxes.samples[box]
            ? `, ${boxes.running[box]} of them running` : '')]);
        return list;
    }
    function titleOf(box) {
        return boxes.span[box] < 0 ? 'no context: ' + data.none[-1 - boxes.span[box]]
            : labelOf(box) || 'span ' + spans.bytes.hex(spans.id[boxes.span[box]], 8);
    }
    function element(name, text, ...children) {
        const made = document.createElement(name);
        if (text)
            made.textContent = text;
        made.append(...children);
        return made;
    }

    const tip = byId('tip');
    function showTip(box, row, x, y) {
        if (box < 0) {
            tip.hidden = true;
            return;
        }
        const pairs = facts(box, row).flatMap(([key, value]) => [element('dt', key), element('dd', value)]);
        tip.replaceChildren(element('b', titleOf(box)), element('dl', '', ...pairs));
        tip.hidden = false;
        const size = tip.getBoundingClientRect();
        tip.style.left = Math.max(4, x + 16 + size.width > innerWidth ? x - 16 - size.width : x + 16) + 'px';
        tip.style.top = Math.max(4, y + 18 + size.height > innerHeight ? y - 12 - size.height : y + 18) + 'px';
    }

    let rowsOfChosen = new Set();
    function boxesOf(trace) {
        const found = [];
        for (let box = 0; box < data.boxCount; box++)
            if (traceOf(box) === trace)
                found.push(box);
        return found;
    }
    function rowOf(box) {
        let row = 0;
        while (boxes.first[row + 1] <= box)
            row++;
        return row;
    }

    const panel = byId('chosen');
    const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;
    function choose(trace) {
        chosen = trace === chosen ? -1 : trace;
        const list = chosen < 0 ? [] : boxesOf(chosen);
        rowsOfChosen = new Set(list.map(rowOf));
        for (const row of document.querySelectorAll('tr[data-trace]')) {
            row.classList.toggle('has', +row.dataset.trace === chosen);
            row.setAttribute('aria-selected', +row.dataset.trace === chosen);
        }
        canvases.forEach((canvas, row) => canvas.parentElement.classList.toggle('has', rowsOfChosen.has(row)));
        const hadFocus = panel.contains(document.activeElement);
        panel.hidden = chosen < 0;
        for (const canvas of panel.querySelectorAll('canvas'))
            swatches.delete(canvas);
        if (chosen >= 0) {
            const processes = new Set([...rowsOfChosen].map(row => canvases[row].closest('.process')));
            const cpu = list.reduce((sum, box) => sum + boxes.cpu[box], 0);
            const swatch = element('canvas');
            const button = element('button', 'zoom to it'), undo = element('button', 'undo');
            swatch.className = 'swatch';
            swatches.set(swatch, lookOf(chosen));
            button.type = undo.type = 'button';
            button.onclick = () => fit(list);
            undo.onclick = () => choose(-1);
            const text = `${plural(list.length, 'stretch', 'stretches')} on `
                + `${plural(rowsOfChosen.size, 'thread', 'threads')} of `
                + `${plural(processes.size, 'process', 'processes')}, ${timeText(cpu)} of CPU`;
            panel.replaceChildren(swatch, element('code', traceName(chosen)), element('span', text), button, undo);
            drawSwatch(swatch, lookOf(chosen));
            say(`Trace ${traceName(chosen)} is highlighted: ${text}`);
        } else {
            say('Nothing is highlighted');
        }
        if (hadFocus && canvases.length)
            canvases[currentRow].focus({preventScroll: true});
        draw();
    }
    function say(text) {
        byId('said').textContent = text;
    }

    /* The box at a point of the page, or -1: up to two pixels beside it. */
    function boxAt(row, x) {
        const area = canvases[row].getBoundingClientRect(), unit = (view.to - view.from) / area.width;
        const time = view.from + (x - area.left) * unit;
        let found = -1, least = 2 * unit;
        for (let box = firstBehind(row, time - least); box < boxes.first[row + 1]; box++) {
            const apart = Math.max(boxes.start[box] - time, time - boxes.end[box], 0);
            if (boxes.start[box] - time > 2 * unit)
                break;
            if (apart === 0 && boxes.start[box] !== boxes.end[box])
                return box;
            if (apart < least)
                found = box, least = apart;
        }
        return found;
    }
    const rowNumbers = new Map(canvases.map((canvas, row) => [canvas, row]));

    function timeAt(x) {
        const area = byId('axis').getBoundingClientRect();
        const at = Math.min(Math.max(x, area.left), area.right) - area.left;
        return view.from + at * (view.to - view.from) / area.width;
    }

    const chart = byId('chart');
    let drag = null;
    chart.addEventListener('pointerdown', event => {
        if (event.button !== 0 || !rowNumbers.has(event.target))
            return;
        drag = {x: event.clientX, from: view.from, to: view.to, moved: false, row: rowNumbers.get(event.target)};
        event.target.setPointerCapture(event.pointerId);
    });
    chart.addEventListener('pointermove', event => {
        if (drag && Math.abs(event.clientX - drag.x) > 4)
            drag.moved = true;
        if (drag && drag.moved) {
            const by = (drag.x - event.clientX) * (drag.to - drag.from) / byId('axis').clientWidth;
            tip.hidden = true;
            show(drag.from + by, drag.to + by);
            return;
        }
        const row = rowNumbers.get(event.target);
        showTip(row === undefined ? -1 : boxAt(row, event.clientX), row, event.clientX, event.clientY);
    });
    chart.addEventListener('pointerup', event => {
        const was = drag;
        drag = null;
        if (!was || was.moved)
            return;
        const box = boxAt(was.row, event.clientX), trace = box < 0 ? -1 : traceOf(box);
        setCurrentRow(was.row);
        canvases[was.row].focus({preventScroll: true});
        if (trace >= 0 || chosen >= 0)
            choose(trace);
    });
    chart.addEventListener('pointercancel', () => drag = null);
    chart.addEventListener('pointerleave', () => tip.hidden = true);
    chart.addEventListener('wheel', event => {
        const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
        if (event.ctrlKey || event.metaKey)
            zoom(1.0025 ** Math.max(-200, Math.min(200, event.deltaY)), timeAt(event.clientX));
        else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
            pan(sideways / byId('axis').clientWidth);
        else
            return;
        event.preventDefault();
    }, {passive: false});

    /* One thread is in the order of the Tab key: the current one. */
    function setCurrentRow(row) {
        canvases[currentRow].tabIndex = -1;
        currentRow = row;
        canvases[row].tabIndex = 0;
    }
    function tell(row, box) {
        setCurrentRow(row);
        current = box;
        if (box >= 0 && (boxes.end[box] > view.to || boxes.start[box] < view.from)) {
            const size = view.to - view.from, middle = (boxes.start[box] + boxes.end[box]) / 2;
            show(middle - size / 2, middle + size / 2);
        }
        canvases[row].focus();
        if (box < 0)
            return;
        say(titleOf(box) + ', ' + facts(box, row).map(pair => pair.join(' ')).join(', '));
        const area = canvases[row].getBoundingClientRect();
        showTip(box, row, area.left + Math.max(0, boxes.start[box] - view.from) * area.width / (view.to - view.from),
            area.bottom - 12);
        draw();
    }
    /* The box of the row that is nearest to the current one in time. */
    function nearest(row) {
        const time = current >= 0 ? boxes.start[current] : view.from;
        const box = firstBehind(row, time);
        return box < boxes.first[row + 1] ? box : box - 1;
    }
    function step(by) {
        const first = boxes.first[currentRow], last = boxes.first[currentRow + 1] - 1;
        const inRow = current >= first && current <= last;
        tell(currentRow, inRow ? Math.min(Math.max(current + by, first), last) : nearest(currentRow));
    }
    function climb(by) {
        const row = Math.min(Math.max(currentRow + by, 0), canvases.length - 1);
        tell(row, nearest(row));
    }

    const onThread = {
        ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => climb(-1), ArrowDown: () => climb(1),
        Home: () => tell(currentRow, boxes.first[currentRow]),
        End: () => tell(currentRow, boxes.first[currentRow + 1] - 1),
        Enter: () => current >= 0 && choose(traceOf(current)), ' ': () => current >= 0 && choose(traceOf(current)),
    };
    const anywhere = {
        '+': () => zoom(1 / 1.5), '=': () => zoom(1 / 1.5), w: () => zoom(1 / 1.5),
        '-': () => zoom(1.5), s: () => zoom(1.5),
        a: () => pan(-.2), d: () => pan(.2), 0: () => show(0, data.end), f: () => chosen >= 0 && fit(boxesOf(chosen)),
    };
    document.addEventListener('keydown', event => {
        if (event.ctrlKey || event.altKey || event.metaKey)
            return;
        if (event.key === 'Escape') {
            tip.hidden = true;
            current = -1;
            draw();
            if (chosen >= 0)
                choose(-1);
            return;
        }
        const onRow = rowNumbers.has(document.activeElement), row = event.target.closest('tr[data-trace]');
        if (row && (event.key === 'Enter' || event.key === ' ')) {
            choose(+row.dataset.trace);
            event.preventDefault();
        }
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const action = onRow && Object.hasOwn(onThread, key) ? onThread[key]
            : (chart.matches(':hover, :focus-within')) && Object.hasOwn(anywhere, key) ? anywhere[key] : null;
        if (!action)
            return;
        event.preventDefault();
        action();
    });
    byId('in').onclick = () => zoom(1 / 1.5);
    byId('out').onclick = () => zoom(1.5);
    byId('all').onclick = () => show(0, data.end);

    /* Traces of the table are highlighted in the picture, and have its colours. */
    function connectTable() {
        const numbers = new Map(), cells = [...document.querySelectorAll('code.trace')];
        const wanted = new Set(cells.map(cell => parseInt(cell.textContent.slice(0, 12), 16)));
        const ids = traceIds.bytes;
        for (let trace = 0; trace < data.traceCount; trace++) {
            let start = 0; /* the first bytes: to give all traces a name takes too long */
            for (let i = 16 * trace; i < 16 * trace + 6; i++)
                start = start * 256 + ids[i];
            if (wanted.has(start))
                numbers.set(traceName(trace), trace);
        }
        for (const cell of cells) {
            const row = cell.closest('tr'), swatch = element('canvas'), trace = numbers.get(cell.textContent);
            if (trace === undefined)
                continue;
            swatch.className = 'swatch';
            swatch.setAttribute('aria-hidden', 'true');
            cell.before(swatch, ' ');
            swatches.set(swatch, lookOf(trace));
            row.dataset.trace = trace;
            row.tabIndex = 0;
            row.onclick = () => choose(trace);
        }
    }
    function connectLegend() {
        const [first, second, third, none, nothing] = document.querySelectorAll('#legend canvas');
        swatches.set(first, {colour: COLOURS[0], pattern: 'plain'});
        swatches.set(second, {colour: COLOURS[1], pattern: 'up'});
        swatches.set(third, {colour: COLOURS[4], pattern: 'dots'});
        swatches.set(none, 'none');
        swatches.set(nothing, null);
    }

    /* Only threads that are on the screen have a picture in memory. */
    const observer = new IntersectionObserver(entries => {
        for (const entry of entries) {
            const row = rowNumbers.get(entry.target);
            if (entry.isIntersecting) {
                visible.add(row);
            } else if (!printing()) {
                visible.delete(row);
                entry.target.width = entry.target.height = 0;
            }
        }
        draw();
    }, {rootMargin: '300px 0px'});

    readTheme();
    connectTable();
    connectLegend();
    for (const canvas of canvases)
        observer.observe(canvas);
    if (canvases.length)
        setCurrentRow(0);
    new ResizeObserver(draw).observe(byId('axis'));
    for (const query of [media, window.matchMedia('(prefers-color-scheme: dark)')])
        query.addEventListener('change', redress);
    const print = before => {
        beforePrint = before;
        document.documentElement.classList.toggle('printing', before);
        redress();
    };
    window.addEventListener('beforeprint', () => print(true));
    window.addEventListener('afterprint', () => print(false));
    redress();
    document.documentElement.dataset.ready = Math.round(performance.now());
})();
