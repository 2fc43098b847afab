// The icon of the browser's tab carries the number of what waits for the person.

const SIZE = 64;

/** The text in the badge; empty: no badge. */
export const badge = (count: number): string =>
  count <= 0 ? '' : count > 99 ? '99+' : String(count);

let drawn = '';

/** Draws the icon again if the badge changed. Does nothing where the browser has no canvas. */
export async function showCount(count: number): Promise<void> {
  const text = badge(count);
  if (text === drawn) return;
  drawn = text;
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (!link) return;
  link.dataset['plain'] ??= link.href;
  if (text === '') {
    link.type = 'image/svg+xml';
    link.href = link.dataset['plain'] ?? link.href;
    return;
  }
  const image = new Image();
  image.src = link.dataset['plain'] ?? '';
  await image.decode().catch(() => {});
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = SIZE;
  const pen = canvas.getContext('2d');
  if (!pen || drawn !== text) return;
  if (image.width > 0) pen.drawImage(image, 0, 0, SIZE, SIZE);
  const wide = text.length > 1;
  pen.fillStyle = '#bd6f0a';
  pen.beginPath();
  pen.roundRect(wide ? 16 : 26, 26, wide ? 48 : 38, 38, 19);
  pen.fill();
  pen.fillStyle = '#fff';
  pen.font = `bold ${wide ? 26 : 32}px system-ui, sans-serif`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillText(text, wide ? 40 : 45, 46);
  link.type = 'image/png';
  link.href = canvas.toDataURL('image/png');
}
