// A text whose invisible characters are escaped and marked.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { splitInvisible } from '../text/escape-invisible.ts';

/** A text whose invisible characters are escaped and marked. */
export function EscapedText({ text }: { readonly text: string }): JSX.Element {
  const pieces = useMemo(() => splitInvisible(text), [text]);
  return (
    <>
      {pieces.map((piece, i) =>
        piece.name === undefined ? (
          piece.text
        ) : (
          <mark key={i} class="hidden-letter" title={piece.name}>
            {piece.text}
          </mark>
        ),
      )}
    </>
  );
}
