// Converts the settings of the user about streaming and reasoning effort to model settings.
import type { ModelSettings } from '../core/index.ts';
import type { Effort } from './settings/index.ts';

/** Returns the model settings for a choice of streaming and reasoning effort. */
export const toModelSettings = ({
  stream,
  effort,
}: {
  readonly stream: boolean;
  readonly effort: Effort | undefined;
}): ModelSettings => ({
  stream,
  ...(effort === undefined ? {} : { reasoning: effort === 'off' ? 'none' : effort }),
});
