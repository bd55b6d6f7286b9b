// The options of the program: one table that the parser, the help and the shell completions all read.

/** An option: its names, what it takes and what it does. */
export type CliOption = {
  /** The first name is the one it is known by here. */
  readonly names: readonly [string, ...string[]];
  readonly short?: string;
  /** What it takes, as the help shows it; absent for a switch. */
  readonly value?: string;
  /** The value may be left out. */
  readonly optional?: boolean;
  /** What a shell may suggest for the value. */
  readonly completion?: 'model' | 'session' | 'file' | readonly string[];
  readonly description: string;
};

/** Options under a heading of the help; at most one of a group that is marked so may be given. */
export type CliOptionGroup = {
  readonly title: string;
  readonly exclusive?: boolean;
  readonly options: readonly CliOption[];
};

/** Every option that `fairlead`, `fairlead chat` and `fairlead run` understand. */
export const cliOptionGroups: readonly CliOptionGroup[] = [
  {
    title: 'Mode',
    exclusive: true,
    options: [
      { names: ['interactive'], description: 'open the prompt; the default when there is nothing to do at once' },
      { names: ['one-shot'], description: 'do one thing and exit' },
    ],
  },
  {
    title: 'What to do',
    exclusive: true,
    options: [
      { names: ['prompt', 'print'], short: 'p', value: '<text>', description: 'the exact words of the user message' },
      {
        names: ['prompt-file'],
        short: 'P',
        value: '<file>',
        completion: 'file',
        description: 'a file that holds the user message',
      },
      { names: ['test-connection'], description: 'see whether the provider answers' },
      { names: ['refresh-models'], description: 'ask the provider which models it has, and keep the list' },
    ],
  },
  {
    title: 'Model',
    options: [
      {
        names: ['model', 'model-name'],
        short: 'm',
        value: '<name>',
        completion: 'model',
        description: 'the model, <provider>/<model>, or auto; the last one used unless given',
      },
      { names: ['private'], description: 'let no model read this session that is not on your own machines' },
      { names: ['stream'], short: 's', description: 'show the answer while it comes' },
    ],
  },
  {
    title: 'Session',
    exclusive: true,
    options: [
      {
        names: ['resume-session', 'resume'],
        short: 'r',
        value: '<session>',
        optional: true,
        completion: 'session',
        description: 'go on with a session, by its name or id',
      },
      {
        names: ['clone-session', 'fork'],
        short: 'c',
        value: '<session>',
        completion: 'session',
        description: 'copy a session and go on with the copy',
      },
      { names: ['continue'], description: 'go on with the latest session' },
      { names: ['ephemeral', 'no-session'], description: 'keep nothing' },
    ],
  },
  {
    title: 'Naming and limits',
    options: [
      {
        names: ['session-name'],
        short: 'n',
        value: '<name>',
        description: 'the name of the new session; date and time unless given',
      },
      { names: ['max-turns'], value: '<n>', description: 'turns of the model before a run ends' },
      { names: ['max-budget-usd'], value: '<n>', description: 'dollars a run may cost' },
    ],
  },
  {
    title: 'Permission',
    options: [
      { names: ['auto-approve'], description: 'do not ask before files are changed and commands are run' },
      { names: ['no-sandbox'], description: 'run commands without a sandbox' },
      { names: ['code'], description: 'give the model a container to run code in, and nothing else' },
    ],
  },
  {
    title: 'Input and output',
    options: [
      {
        names: ['output-format'],
        value: '<format>',
        completion: ['text', 'json', 'stream-json'],
        description: 'text, json (one line at the end) or stream-json (a line an event)',
      },
      { names: ['json'], description: 'the same as --output-format json' },
      {
        names: ['input-format'],
        value: '<format>',
        completion: ['text', 'stream-json'],
        description: 'text, or stream-json: a message a line',
      },
      {
        names: ['output-schema', 'json-schema'],
        value: '<file>',
        completion: 'file',
        description: 'a JSON Schema that the answer is held to',
      },
      { names: ['plain'], description: 'lines instead of a screen, for screen readers and simple terminals' },
    ],
  },
];

/** All options, without their groups. */
export const cliOptions: readonly CliOption[] = cliOptionGroups.flatMap(({ options }) => options);
