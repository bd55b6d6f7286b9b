// A button that copies a text exactly as shown, without invisible characters.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { announcement } from '../state/atom.ts';
import { Icon } from './icon.tsx';
import { splitInvisible } from '../text/escape-invisible.ts';

/** Milliseconds that the confirmation is shown. */
const confirmationMs = 2000;

/** Copies a text; `what` is its label for screen readers. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return undefined;
    const timer = setTimeout(() => {
      setSaid('');
      announcement.set('');
    }, confirmationMs);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    const shown = splitInvisible(text).map((piece) => piece.text);
    const words = (await copyText(shown.join(''))) ? 'Copied' : 'Copy failed: select the text instead';
    setSaid(words);
    announcement.set(words);
  };
  return (
    <button type="button" class="quiet copy" onClick={() => void copy()}>
      <Icon name={said === 'Copied' ? 'check' : 'copy'} size={14} />
      <span class="copy-name">{said || 'Copy'}</span>
      <span class="unseen"> {what}</span>
    </button>
  );
}

/** Copies a text; falls back to a selection, because the clipboard API needs TLS or localhost. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'unseen';
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
