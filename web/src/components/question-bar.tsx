// The last message of the user in one line at the top of the page, while the message itself is scrolled out of view.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Timeline } from '../state/timeline.ts';
import { EscapedText } from './escaped-text.tsx';
import { Icon } from './icon.tsx';

/** The bar; a click scrolls to the message. */
export function QuestionBar({ timeline: { items } }: { readonly timeline: Timeline }): JSX.Element {
  const last = items.findLast((item) => item.type === 'input' && item.by === undefined);
  const [isHidden, setHidden] = useState(true);
  useEffect(() => {
    const look = (): void => {
      const question = [...document.querySelectorAll('[data-question="true"]')].at(-1);
      setHidden(!question || question.getBoundingClientRect().bottom > 8);
    };
    look();
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, [last?.key]);
  const text = last?.type === 'input' ? last.text.replaceAll(/\s+/g, ' ').trim().slice(0, 300) : '';
  return (
    <div class="question-bar" hidden={isHidden || text === ''}>
      <button
        type="button"
        title="Scroll to this message"
        onClick={() =>
          [...document.querySelectorAll('[data-question="true"]')].at(-1)?.scrollIntoView({ block: 'center' })
        }
      >
        <Icon name="user" size={14} />
        <span dir="auto">
          <EscapedText text={text} />
        </span>
      </button>
    </div>
  );
}
