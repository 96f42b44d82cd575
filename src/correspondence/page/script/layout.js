/* The first screen: what stands above the plane decides how much room is left for it (page.css), and on a phone most controls
   wait behind a button. */

class Layout {
  constructor(screen) {
    this.screen = screen;
    const measure = () => this.measure();
    new ResizeObserver(measure).observe(document.querySelector("header"));
    addEventListener("resize", measure);
    $("more")?.addEventListener("click", () => this.open(!this.isOpen));
    measure();
  }
  measure() { document.documentElement.style.setProperty("--above", `${Math.round(this.screen.getBoundingClientRect().top + scrollY)}px`); }
  get isOpen() { return document.documentElement.classList.contains("open"); }
  open(isOpen) {
    document.documentElement.classList.toggle("open", isOpen);
    $("more").setAttribute("aria-expanded", String(isOpen));
    $("more").textContent = isOpen ? "Less" : "More";
  }
}
