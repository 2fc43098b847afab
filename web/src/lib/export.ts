// A picture as a file. Colours are taken from the page, so that the file needs no style sheet.
const PROPERTIES = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
];

const SVG = 'http://www.w3.org/2000/svg';
const LEGEND_ROW = 24;
/** Room for the words of one sign of the legend: 22 px of sign, a gap, and 6 px a letter. */
const signWidth = (text: string): number => 22 + 6 + text.length * 6 + 18;

function make(name: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** Copies an element with the style that it has on the page as attributes. */
function styled(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [...svg.querySelectorAll('*')];
  for (const [index, element] of [...copy.querySelectorAll('*')].entries()) {
    const source = from[index];
    if (!source || element.closest('title, desc')) continue;
    const style = getComputedStyle(source);
    for (const property of PROPERTIES) {
      const value = style.getPropertyValue(property);
      if (value && !value.startsWith('url(')) element.setAttribute(property, value);
    }
    element.removeAttribute('class');
    element.removeAttribute('tabindex');
  }
  return copy;
}

/** Places the signs of the legend in rows; returns where each is and how high all are. */
export function legendPlaces(
  texts: string[],
  width: number,
): { at: { x: number; y: number }[]; height: number } {
  let [x, y] = [16, 0];
  const at = texts.map((text) => {
    if (x > 16 && x + signWidth(text) > width) [x, y] = [16, y + LEGEND_ROW];
    const place = { x, y };
    x += signWidth(text);
    return place;
  });
  return { at, height: texts.length > 0 ? y + LEGEND_ROW + 8 : 0 };
}

/** Draws the page's legend below the picture; returns how much higher that makes it. */
function addLegend(copy: SVGSVGElement, card: Element, width: number, top: number): number {
  const signs = [...card.querySelectorAll<HTMLElement>('.lg > span')];
  const texts = signs.map((one) => one.textContent?.trim() ?? '');
  const { at, height } = legendPlaces(texts, width);
  for (const [index, sign] of signs.entries()) {
    const { x, y } = at[index] ?? { x: 0, y: 0 };
    const svg = sign.querySelector('svg');
    const style = getComputedStyle(sign);
    if (svg) {
      const drawn = styled(svg);
      for (const [key, value] of Object.entries({ x, y: top + y + 3, width: 22, height: 12 }))
        drawn.setAttribute(key, String(value));
      copy.append(drawn);
    }
    const words = make('text', {
      x: x + 28,
      y: top + y + 13,
      fill: style.color,
      'font-size': 12,
      'font-family': style.fontFamily,
    });
    words.textContent = texts[index] ?? '';
    copy.append(words);
  }
  return height;
}

/** The picture as a file that needs no style sheet, with its legend; `print`: on white paper. */
export function whole(svg: SVGSVGElement, print = false): string {
  const card = svg.closest('.card') ?? document.body;
  card.classList.toggle('to-print', print);
  const copy = styled(svg);
  const { width, height } = svg.viewBox.baseVal;
  const high = height + addLegend(copy, card, width, height + 4);
  const fill = print ? '#fff' : getComputedStyle(card).backgroundColor;
  card.classList.remove('to-print');
  copy.insertBefore(make('rect', { width, height: high, fill }), copy.firstChild);
  copy.setAttribute('xmlns', SVG);
  copy.setAttribute('viewBox', `0 0 ${width} ${high}`);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(high));
  return new XMLSerializer().serializeToString(copy);
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export const saveText = (text: string, name: string): void =>
  save(new Blob([text], { type: 'text/plain;charset=utf-8' }), name);

export const saveSvg = (svg: SVGSVGElement, name: string, print = false): void =>
  save(new Blob([whole(svg, print)], { type: 'image/svg+xml' }), `${name}.svg`);

export async function savePng(svg: SVGSVGElement, name: string): Promise<void> {
  const url = URL.createObjectURL(new Blob([whole(svg)], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    const scale = 2;
    canvas.width = image.width * scale;
    canvas.height = image.height * scale;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && save(blob, `${name}.png`));
  } finally {
    URL.revokeObjectURL(url);
  }
}
