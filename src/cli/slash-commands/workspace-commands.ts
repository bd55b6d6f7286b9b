// Slash commands about the project and the program: /init, /diff, /status, /config, /skills, /hooks, /effort and /theme.
import { homedir } from 'node:os';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { formatColumns, isObject, type Event } from '../../core/index.ts';
import { formatDestination } from '../../coding-agent/models/index.ts';
import {
  getUserConfigFile,
  readConfig,
  setConfigValue,
  settingsSchema,
  writeConfig,
  type Effort,
} from '../../coding-agent/settings/index.ts';
import { getBranchPath } from '../../sessions/reports/index.ts';
import { formatMcpStatus, getMcpServers } from '../../tools/mcp/index.ts';
import { resolveTheme, type ThemeName } from '../tui/ansi-style.ts';
import { formatStatusParts } from '../tui/format.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

const efforts: readonly Effort[] = ['off', 'low', 'medium', 'high'];

const effortCommand: SlashCommand = {
  name: 'effort',
  description: 'reasoning effort of the model, from the next request on',
  argumentHint: efforts.join('|'),
  allowedDuringRun: true,
  complete: () => efforts.map((value) => ({ value, label: value })),
  run(args, { conversation, notify, refreshStatus }) {
    const word = args.trim();
    const effort = efforts.find((each) => each === word);
    if (word !== '' && !effort) return notify(`Usage: /effort ${efforts.join('|')}`, 'warning');
    if (effort) conversation.effort = effort;
    refreshStatus();
    return notify(`Reasoning effort: ${conversation.effort ?? "the model's default"}.`);
  },
};

const themes: readonly ThemeName[] = ['auto', 'dark', 'light', 'high-contrast', 'none'];

const themeCommand: SlashCommand = {
  name: 'theme',
  description: 'colors of the terminal; the choice is kept in your settings',
  argumentHint: themes.join('|'),
  allowedDuringRun: true,
  complete: () => themes.map((value) => ({ value, label: value })),
  async run(args, { ui, notify, signal }) {
    const choices = themes.map((value) => ({ value, label: value }));
    const word = args.trim() || (await ui.pick('Which theme?', choices, { signal }));
    const theme = themes.find((each) => each === word);
    if (word === undefined) return notify('The theme is unchanged.');
    if (!theme) return notify(`Usage: /theme ${themes.join('|')}`, 'warning');
    const file = getUserConfigFile();
    writeConfig(file, setConfigValue(readConfig(file), 'theme', theme));
    ui.setTheme?.(resolveTheme(theme));
    return notify(`Theme: ${theme}.`);
  },
};

const initCommand: SlashCommand = {
  name: 'init',
  description: 'let the model write AGENTS.md for this project; you approve the file as any change',
  async run(_, { conversation, notify, runAgent }) {
    if (conversation.model.tools === false)
      return notify(`${conversation.model.name} cannot call tools, so it cannot write AGENTS.md.`, 'warning');
    const exists = existsSync(path.join(conversation.agent.workspace.cwd, 'AGENTS.md'));
    return runAgent(
      `${exists ? 'Improve the file AGENTS.md' : 'Write the file AGENTS.md'} in the working directory: ${initPrompt}`,
    );
  },
};

const initPrompt = `instructions for coding agents that work in this project.
Look first: the README, the package or build files, the directory structure, a few source and test files, the configuration of linters and CI. Then write at most 60 lines:
- what the project is, in one sentence;
- the exact commands to build, to check, to run all tests and to run a single test;
- where things are, and where new code goes;
- conventions that the code really follows and that an agent could not guess;
- what must not be changed or run.
State only what you have seen in the files. Leave out what every developer knows.`;

const diffCommand: SlashCommand = {
  name: 'diff',
  description: 'what changed in the working directory: against the last commit, or by tools in this session',
  allowedDuringRun: true,
  async run(_, context) {
    const { conversation, ui, notify, signal } = context;
    const diff = (await readGitDiff(context)) ?? sessionDiff(getBranchPath(await conversation.events()));
    if (signal.aborted) return undefined;
    if (diff.trim() === '') return notify('No changes.');
    return ui.putBlock({
      type: 'call',
      id: `diff${crypto.randomUUID()}`,
      tool: 'changes',
      input: {},
      status: 'ok',
      diff,
    });
  },
};

const maxDiffBytes = 2_000_000;

/** The changes since the last commit, and the names of new files; undefined outside a repository. */
async function readGitDiff({ conversation, signal }: CommandContext): Promise<string | undefined> {
  const { gitOutput } = await import('../../tools/git/index.ts');
  const { read: workspace, isConfined } = conversation.agent.gitReader;
  const run = { workspace, isConfined, signal, seconds: 10, maxOutput: maxDiffBytes };
  try {
    const diff = await gitOutput(['diff', '--no-color', '--no-ext-diff', '--no-textconv', 'HEAD', '--', '.'], run);
    if (diff === undefined) return undefined;
    const created = await gitOutput(['ls-files', '--others', '--exclude-standard', '--', '.'], run);
    const names = (created ?? '').split('\n').filter(Boolean);
    return [diff.trimEnd(), ...names.map((name) => `+++ new file: ${name}`)].filter(Boolean).join('\n');
  } catch {
    return undefined;
  }
}

/** The diffs that the tools of this session recorded. */
const sessionDiff = (events: readonly Event[]): string =>
  events
    .flatMap((event) => {
      const data = event.type === 'tool-ended' && isObject(event.data) ? event.data : {};
      return typeof data['diff'] === 'string' && data['diff'] ? [data['diff']] : [];
    })
    .join('\n');

const statusCommand: SlashCommand = {
  name: 'status',
  description:
    'model and where your text goes, folder, session, mode, context, cost, MCP servers, sandbox, private data',
  allowedDuringRun: true,
  async run(_, { conversation, showPage }) {
    const { model, settings, agent } = conversation;
    const { reportTrifecta } = await import('../../coding-agent/flow/index.ts');
    const { cwd } = agent.workspace;
    const { dirs } = settings;
    const trifecta = await reportTrifecta(await conversation.events(), {
      tools: conversation.session.agent.tools,
      dirs,
      cwd,
    });
    const servers = getMcpServers(agent.tools).status();
    const rows: readonly (readonly [string, string])[] = [
      ['model', conversation.status().model],
      ['text goes to', formatDestination(model.ref, settings.env)],
      ['folder', agent.workspace.cwd],
      ['session', conversation.name],
      ['session file', conversation.file ?? 'not saved'],
      ['status', formatStatusParts(conversation.status()).slice(1).join(' · ')],
      ['effort', conversation.effort ?? "the model's default"],
      ['streaming', conversation.stream ? 'on' : 'off'],
      ['sandbox', `${agent.sandbox.name}: ${agent.sandbox.description}`],
      ['instructions', agent.instructions.files.map((file) => file.path).join(', ') || 'none'],
      ['MCP servers', servers.length === 0 ? 'none' : servers.map(formatMcpStatus).join('; ').replaceAll('\n', ' ')],
      ...trifecta,
      ['settings', settings.userFile],
    ];
    showPage(rows.map(([name, value]) => `${name.padEnd(16)}${value}`).join('\n'), 'Status');
  },
};

const configCommand: SlashCommand = {
  name: 'config',
  description: 'show the settings and their origin',
  allowedDuringRun: true,
  run(_, { conversation, showPage }) {
    const rows = [...conversation.settings.all].map(([key, { value, origin }]) => [
      key,
      settingsSchema[key]?.secret ? 'set' : String(value).replaceAll(/\s+/g, ' ').slice(0, 60),
      'file' in origin ? origin.file : 'name' in origin ? origin.name : origin.type,
    ]);
    showPage(`${formatColumns(rows)}\nYour settings file: ${conversation.settings.userFile}`, 'Settings');
  },
};

const skillsCommand: SlashCommand = {
  name: 'skills',
  description: 'list the skills that the model can load',
  allowedDuringRun: true,
  run(_, { conversation, showPage, notify }) {
    const { skills } = conversation.agent;
    if (skills.length === 0) return notify('No skills found for this folder.');
    return showPage(skills.map(({ name, description }) => `${name.padEnd(24)}  ${description}`).join('\n'), 'Skills');
  },
};

const hooksCommand: SlashCommand = {
  name: 'hooks',
  description: 'list the files with hooks for this folder, and whether their hooks are active',
  allowedDuringRun: true,
  async run(_, { conversation, showPage, notify }) {
    const { findHookFiles } = await import('../../guards/hooks/index.ts');
    const { settings, agent } = conversation;
    const files = findHookFiles({ cwd: agent.workspace.cwd, home: homedir(), configDir: settings.dirs.config });
    if (files.length === 0) return notify('No hooks configured.');
    const lines = files.map((file) => `${file.isUserOwned ? 'yours  ' : 'project'}  ${file.path}`);
    const state = agent.hooks
      ? 'Hooks are active.'
      : 'No hook is active: hooks of a project need your approval at the start.';
    return showPage([...lines, '', state].join('\n'), 'Hooks');
  },
};

/** The slash commands about the project and the program. */
export const workspaceCommands: readonly SlashCommand[] = [
  statusCommand,
  effortCommand,
  themeCommand,
  initCommand,
  diffCommand,
  configCommand,
  skillsCommand,
  hooksCommand,
];
