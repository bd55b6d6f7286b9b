// The profiles: two complete sets of default settings, selected by an option, the program name, a variable or the config file.
import type { SettingValue } from './schema.ts';

/** The name of a profile. */
export type ProfileName = 'fairlead' | 'jayjader';

/** A set of defaults. Every default can be changed by the variable or the key of its setting. */
export type Profile = {
  readonly name: ProfileName;
  /** The name of the product in messages and in the system prompt. */
  readonly product: string;
  /** The title of the help. */
  readonly title: string;
  /** The command that starts the program with this profile. */
  readonly program: string;
  /** The name of the state and data directories. */
  readonly rootName: string;
  /** The default of each setting that has one, by its key. */
  readonly defaults: Readonly<Record<string, SettingValue>>;
  /** The short options that differ from those of `fairlead`: the letter, and the option it stands for. */
  readonly shortOptions: Readonly<Record<string, string>>;
};

/** The variable that selects the profile. */
export const profileVariable = 'HARNESS_PROFILE';

const commonDefaults = {
  approve: 'ask',
  theme: 'auto',
  reasoning: 'show',
  notifications: 'auto',
  'notifications.after': 10,
  'session.title': 'message',
  'sandbox.engine': 'podman',
  'sandbox.image': 'alpine',
  'sandbox.volume': 'llm-harness-tool-workspace',
} as const;

/** All profiles: `fairlead` has the conventions of other agents, `jayjader` those of the specification of the terminal harness. */
export const profiles: Readonly<Record<ProfileName, Profile>> = {
  fairlead: {
    name: 'fairlead',
    product: 'Fairlead',
    title: 'Fairlead, an agent harness for any model',
    program: 'fairlead',
    rootName: 'fairlead',
    defaults: {
      refresh: 'auto',
      remember: 'interactive',
      stream: true,
      ...commonDefaults,
      'sandbox.commands': 'local',
      'session.edit': 'messages',
      'session.continue': 'message',
      'editor.tmux': 'optional',
    },
    shortOptions: {},
  },
  jayjader: {
    name: 'jayjader',
    product: "Jayjader's LLM Harness",
    title: "Jayjader's LLM Harness",
    program: 'start-harness-jayjader',
    rootName: 'jayjaders-llm-harness',
    defaults: {
      provider: 'ollama',
      refresh: 'ask',
      remember: 'always',
      stream: false,
      ...commonDefaults,
      'sandbox.commands': 'container',
      'session.edit': 'log',
      'session.continue': 'state',
      'editor.tmux': 'required',
    },
    shortOptions: { c: 'clone-session' },
  },
};
