// Checks of a page for accessibility that run inside the browser: labels, landmarks, width and contrast.
/** Returns accessibility problems; runs in the page. */
export function findAccessibilityProblems(): string[] {
  const named = (field: Element): boolean => {
    const { labels } = field as HTMLInputElement;
    return field.hasAttribute('aria-label') || (labels !== null && labels.length > 0);
  };
  const wide = document.documentElement.scrollWidth > innerWidth ? ['it is wider than the screen'] : [];
  const fields = [...document.querySelectorAll('input, textarea, select')].filter((field) => !named(field));
  const buttons = [...document.querySelectorAll('button, a')].filter(({ textContent }) => textContent.trim() === '');
  const tables = [...document.querySelectorAll('table.rows')].filter((table) => !table.querySelector('caption'));
  const mains = document.querySelectorAll('main').length === 1 ? [] : ['there is not one main landmark'];
  return [...wide, ...mains, ...[...fields, ...buttons, ...tables].map(({ outerHTML }) => outerHTML)];
}

/** Returns texts and borders of fields with too little contrast (WCAG AA: 4.5 to 1, large texts and borders 3 to 1); runs in the page. */
export function findLowContrast(): string[] {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  type Colour = readonly [red: number, green: number, blue: number, alpha: number];
  const colours = new Map<string, Colour>();
  const read = (colour: string): Colour => {
    const known = colours.get(colour) ?? draw(colour);
    colours.set(colour, known);
    return known;
  };
  const draw = (colour: string): Colour => {
    if (!canvas) throw new Error('There is no canvas.');
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (top: Colour, below: Colour): Colour => {
    const mix = (i: 0 | 1 | 2): number => top[i] * top[3] + below[i] * (1 - top[3]);
    return [mix(0), mix(1), mix(2), 1];
  };
  const light = ([red, green, blue]: Colour): number => {
    const linear = (value: number): number => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  };
  const ratio = (one: Colour, other: Colour): number => {
    const [low = 0, high = 0] = [light(one), light(other)].toSorted((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const grounds = new Map<Element, Colour>();
  const behind = (element: Element | null): Colour => {
    if (!element) return [255, 255, 255, 1];
    const known =
      grounds.get(element) ?? over(read(getComputedStyle(element).backgroundColor), behind(element.parentElement));
    grounds.set(element, known);
    return known;
  };
  const found = new Set<string>();
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('.unseen, :disabled, [hidden], noscript, svg') || element.getClientRects().length === 0)
      continue;
    const style = getComputedStyle(element);
    const name = `${element.tagName}.${element.className}`;
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim());
    const ground = behind(element);
    const contrast = ratio(over(read(style.color), ground), ground);
    if (isText && contrast < (Number.parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) found.add(`${name} ${contrast}`);
    if (!element.matches('input:not([type=radio], [type=checkbox]), textarea, select')) continue;
    // A field without a border of its own is in a box that has one.
    const box = element.closest('.prompt-box, .dock .composer, .palette-field') ?? element;
    const edge = ratio(
      over(read(getComputedStyle(box).borderTopColor), behind(box.parentElement)),
      behind(box.parentElement),
    );
    const { color, opacity } = getComputedStyle(element, '::placeholder');
    const [red, green, blue, alpha] = read(color);
    const hint = ratio(over([red, green, blue, alpha * Number(opacity)], ground), ground);
    if (edge < 3 || hint < 4.5) found.add(`${name} edge ${edge} placeholder ${hint}`);
  }
  return [...found];
}
