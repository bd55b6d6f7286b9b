// The settings of the terminal: colors, notifications and the editor.
import { numberParser, patternParser } from './parsers.ts';
import type { SettingEntry, SettingValue } from './schema.ts';

/** The settings of the terminal by their key. */
export const terminalEntries: Readonly<Record<string, SettingEntry>> = {
  theme: {
    project: 'never',
    description: 'colors of the terminal: auto, dark, light, high-contrast or none',
    parse: patternParser(/^(auto|dark|light|high-contrast|none)$/, 'auto, dark, light, high-contrast or none'),
  },
  reasoning: {
    project: 'never',
    description: 'reasoning of the model in the terminal: show or hide',
    parse: patternParser(/^(show|hide)$/, 'show or hide'),
  },
  notifications: {
    project: 'never',
    description: 'notify when an answer of the user is needed or a long run has ended: auto, bell, osc or off',
    parse: patternParser(/^(auto|bell|osc|off)$/, 'auto, bell, osc or off'),
  },
  'notifications.after': {
    project: 'never',
    description: 'seconds after which the end of a run is worth a notification',
    parse: numberParser(0, 86_400),
  },
  'editor.tmux': {
    project: 'never',
    description: 'whether an editor opens only in a split of tmux: optional or required',
    parse: patternParser(/^(optional|required)$/, 'optional or required'),
  },
};

/** The settings that the screen of the terminal uses. */
export type TerminalSettings = {
  /** The colors of the terminal. */
  readonly theme: 'auto' | 'dark' | 'light' | 'high-contrast' | 'none';
  /** Whether the terminal shows the reasoning of the model. */
  readonly showsReasoning: boolean;
  /** How the terminal notifies a user who looks elsewhere. */
  readonly notifications: 'auto' | 'bell' | 'osc' | 'off';
  /** How long a run takes at least before its end is worth a notification. */
  readonly notifyAfterMs: number;
  /** Whether an editor is opened only inside tmux. */
  readonly needsTmux: boolean;
};

/** Reads the settings of the terminal. */
export function toTerminalSettings(all: ReadonlyMap<string, { readonly value: SettingValue }>): TerminalSettings {
  const text = (key: string): SettingValue | undefined => all.get(key)?.value;
  return {
    theme: text('theme') as TerminalSettings['theme'],
    showsReasoning: text('reasoning') !== 'hide',
    notifications: text('notifications') as TerminalSettings['notifications'],
    notifyAfterMs: Number(text('notifications.after') ?? 10) * 1000,
    needsTmux: text('editor.tmux') === 'required',
  };
}
