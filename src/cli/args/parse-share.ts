// Parses a share that a user wrote: 0.05 or 5%.

/** Parses a share from 0 to 1 or a percentage; undefined if the text is neither. */
export function parseShare(text: string): number | undefined {
  const share = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text);
  return text.replace('%', '').trim() !== '' && share >= 0 && share <= 1 ? share : undefined;
}
