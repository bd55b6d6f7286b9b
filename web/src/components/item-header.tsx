// The header of an item of the timeline: icon, speaker and time.
import type { ComponentChildren, JSX } from 'preact';
import { formatDateTime, formatTime } from '../text/format.ts';
import type { IconName } from '../text/icon-shapes.ts';
import { Icon } from './icon.tsx';

/** The icon, the name of the speaker and the time of an item. */
export function ItemHeader({
  icon,
  what,
  time,
  children,
}: {
  readonly icon: IconName;
  readonly what: string;
  readonly time: string | undefined;
  /** The content at the end of the line. */
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="side">
      <Icon name={icon} />
      <h3 class="who">{what}</h3>
      {time === undefined ? null : (
        <time dateTime={time} title={formatDateTime(time)}>
          {formatTime(time, Date.now())}
        </time>
      )}
      {children}
    </div>
  );
}
