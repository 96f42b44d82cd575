/* What a reader cannot read in a page: faint texts, cut texts, controls over each other or without a name, width beyond the screen. */
() => {
    const parse = text => {
        const parts = (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
        return parts.length < 4 ? [...parts, 1] : parts;
    };
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, k) => sum + v * [.2126, .7152, .0722][k], 0);
    const paper = node => {  // what is behind an element: its backgrounds, the nearest above
        let colour = [0, 0, 0, 0];
        for (let one = node; one && colour[3] < 1; one = one.parentElement) {
            const [r, g, b, a] = parse(getComputedStyle(one).backgroundColor), rest = (1 - colour[3]) * a;
            colour = [0, 1, 2].map(k => colour[k] + rest * [r, g, b][k]).concat(colour[3] + rest);
        }
        return colour[3] < 1 ? colour.slice(0, 3).map(v => v + (1 - colour[3]) * 255) : colour;
    };
    const faint = [], cut = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const node = texts.currentNode.parentElement, text = texts.currentNode.textContent.trim();
        if (!text || !node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || node.closest("script, style, option, .unseen, [disabled]")) continue;
        const style = getComputedStyle(node), isSvg = node instanceof SVGElement;
        const ink = light(parse(isSvg ? style.fill : style.color)), under = light(paper(node));
        const contrast = (Math.max(ink, under) + .05) / (Math.min(ink, under) + .05);
        const size = parseFloat(style.fontSize), isLarge = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
        if (contrast < (isLarge ? 3 : 4.5)) faint.push([text.slice(0, 40), +contrast.toFixed(2)]);
        const box = isSvg ? null : node;
        if (box && style.overflowX === "hidden" && style.textOverflow !== "ellipsis" && box.scrollWidth > box.clientWidth + 1) cut.push(text.slice(0, 40));
    }
    const controls = [...document.querySelectorAll("button, select, input, [role=button]")].filter(one => one.checkVisibility({ visibilityProperty: true }) && !one.disabled);
    const visible = one => {  // what is left of its box by all that scrolls around it
        let { left, right, top, bottom } = one.getBoundingClientRect();
        for (let around = one.parentElement; around; around = around.parentElement) {
            if (getComputedStyle(around).overflowY === "visible" || around === document.body || around === document.documentElement) continue;
            const box = around.getBoundingClientRect();
            [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
        }
        return { left, right, top, bottom, width: right - left, height: bottom - top };
    };
    const boxes = controls.map(one => [one, visible(one)]).filter(([, box]) => box.width > 1 && box.height > 1);
    const overlapping = [];
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
        const isNested = a.contains(b) || b.contains(a) || a.closest("dialog") !== b.closest("dialog");
        const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left), high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
        if (!isNested && wide > 2 && high > 2) overlapping.push([a.id || a.textContent.trim(), b.id || b.textContent.trim()]);
    }));
    for (const one of document.querySelectorAll("aside .scroll")) if (one.checkVisibility() && one.scrollWidth > one.clientWidth + 1) cut.push(`table: ${one.textContent.slice(0, 40)}`);
    const nameless = controls.filter(one => !(one.textContent.trim() || one.getAttribute("aria-label") || one.title || one.labels?.length || one.getAttribute("aria-labelledby")))
        .map(one => one.outerHTML.slice(0, 80));
    return { faint, cut, overlapping, nameless, sideways: document.documentElement.scrollWidth - innerWidth };
}
