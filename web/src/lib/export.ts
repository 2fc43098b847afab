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

function whole(svg: SVGSVGElement): string {
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
  const { width, height } = svg.viewBox.baseVal;
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  const colour = getComputedStyle(svg.closest('.card') ?? document.body).backgroundColor;
  for (const [key, value] of Object.entries({ width, height, fill: colour }))
    paper.setAttribute(key, String(value));
  copy.insertBefore(paper, copy.firstChild);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
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

export const saveSvg = (svg: SVGSVGElement, name: string): void =>
  save(new Blob([whole(svg)], { type: 'image/svg+xml' }), `${name}.svg`);

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
