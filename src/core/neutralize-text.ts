// Neutralizes text of third parties before a model reads it: what a reader would not see is removed or shown. What cannot be processed is not passed on.
import { stripControlSequences } from './control-sequences.ts';
import { escapeInvisible } from './escape-invisible.ts';
import { formatHidden, removeHiddenMarkup } from './hidden-markup.ts';
import { latinShapes } from './latin-shapes.ts';

/** As many invisible characters in a row occur in no language: they encode a text. */
const invisibleRun =
  /(?:[\p{Cf}\p{Variation_Selector}\p{Noncharacter_Code_Point}\u115f\u1160\u2800\u3164\uffa0]|\u034f|\u17b4|\u17b5){4,}/gu;
const word = /[\p{L}\p{M}\p{N}_]+/gu;
const latinLetter = /\p{Script=Latin}/u;
const lookAlike = new RegExp(`[${[...latinShapes].join('')}]`, 'g');
/** Most texts are plain, and have no markup. */
const plainText = /^[\t\n\x20-;=-\x7e]*$/;

/**
 * Returns a text without control sequences of terminals, HTML comments, hidden elements and encodings in invisible characters. Letters that imitate
 * Latin ones inside a Latin word, and other invisible characters, are shown as code points. `isRendered`: the text is what a page shows, so that
 * markup in it is visible.
 */
export function neutralizeText(text: string, { isRendered = false }: { readonly isRendered?: boolean } = {}): string {
  if (plainText.test(text)) return text;
  try {
    const plain = stripControlSequences(text);
    const shown = (isRendered ? plain : removeHiddenMarkup(plain)).replaceAll(invisibleRun, (run) =>
      formatHidden('invisible text', run.length),
    );
    return escapeInvisible(shown.search(lookAlike) < 0 ? shown : showLookAlikes(shown));
  } catch {
    return '[hidden: a text that could not be processed]';
  }
}

const showLookAlikes = (text: string): string =>
  text.replaceAll(word, (each) =>
    latinLetter.test(each) ? each.replaceAll(lookAlike, (letter) => formatCodePoint(letter)) : each,
  );

const formatCodePoint = (letter: string): string =>
  `<U+${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}>`;
