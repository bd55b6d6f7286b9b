// An icon of the dashboard, in the colour of the text around it.
import type { JSX } from 'preact';
import { iconShapes, type IconName } from '../text/icon-shapes.ts';

/** An icon beside a text that says the same: it is hidden from screen readers. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): JSX.Element {
  return (
    <svg class={`icon icon-${name}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path d={iconShapes[name]} />
    </svg>
  );
}
