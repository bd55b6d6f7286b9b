// Shows what a command hides by an encoding, so that a person who is asked sees what they say yes to.
import { isObject, visible, type Call } from '../core/index.ts';

/** What is hidden in a command by an encoding, where it is decoded there and can be read here. */
export function decoded({ input }: Pick<Call, 'input'>): readonly string[] {
  const { command } = isObject(input) ? input : {};
  if (typeof command !== 'string' || !/base64\s+(-d|-D|--decode)|openssl\s+(enc|base64)|xxd\s+-\w*r/.test(command))
    return [];
  const words = command.match(/[A-Za-z0-9+/]{4,}={0,2}/g) ?? [];
  return words.flatMap((word) => {
    const bytes = Buffer.from(word, /^([0-9a-f]{2})+$/i.test(word) && command.includes('xxd') ? 'hex' : 'base64');
    const text = bytes.toString('utf8');
    // A word that happens to look encoded comes out as noise.
    return /^[\t\n\x20-\x7e]+$/.test(text) && /\s|[|;&$]/.test(text.trim() + (word.endsWith('=') ? ' ' : ''))
      ? [`decoded: ${visible(text)}`]
      : [];
  });
}
