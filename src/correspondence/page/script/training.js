/* The slider that goes through the frames of a training. */

class Training {
  constructor(page) {
    this.page = page;
    const { frames } = page.model.data;
    if (!frames) return;
    const slider = $("frame");
    slider.max = String(frames.steps.length - 1);
    let timer = 0;
    const stop = () => { clearInterval(timer); timer = 0; $("play").textContent = "▶"; $("play").setAttribute("aria-label", "Play the training"); };
    slider.addEventListener("input", () => { stop(); this.show(Number(slider.value)); });
    $("play").addEventListener("click", () => {
      if (timer) return stop();
      if (page.isLast) this.show(0);
      $("play").textContent = "⏸";
      $("play").setAttribute("aria-label", "Pause");
      timer = setInterval(() => { if (!page.isLast) this.show(page.frame + 1); if (page.isLast) stop(); }, 160);
    });
    this.show(page.frame);
  }
  /* Show a step of the training, of which only some axes and one map are known. */
  show(t) {
    const { page } = this, { frames } = page.model.data, slider = $("frame");
    page.frame = t;
    if (!page.isLast) {
      $("map").value = "rowprincipal";
      if (page.axes.some(axis => axis >= frames.axes)) { $("first").value = "0"; $("second").value = frames.axes > 1 ? "1" : "-1"; }
    }
    const accuracy = frames.accuracy ? `, accuracy ${(100 * frames.accuracy[t]).toFixed(1)} %` : "";
    $("step").textContent = `step ${frames.steps[t].toLocaleString("en")}${accuracy}`;
    slider.value = String(t);
    slider.setAttribute("aria-valuetext", $("step").textContent);
    page.arrange();
  }
}
