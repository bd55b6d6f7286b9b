// The texts of a project that a model reads as instructions: AGENTS.md files, the instructions of its config file, commands and skills.
import path from 'node:path';
import {
  findInstructions,
  findSkills,
  findUserCommands,
  joinInstructions,
  parseSkill,
  type Instructions,
  type ProjectLocation,
  type Skill,
  type UserCommand,
} from '../../agent/index.ts';
import { findRepositoryRoot } from '../../agent/project-files/index.ts';
import { formatProjectInstructions, type Settings } from '../settings/index.ts';
import type { InstructionText } from './counted-texts.ts';
import { reviewInstructions, type InstructionReviewOptions } from './review.ts';

/** The instructions of a project that count. */
export type ProjectInstructions = Instructions & {
  /** What does not count yet; it cannot instruct, but it can demand privacy. */
  readonly unacceptedText: string;
};

/** Everything of a project that a model reads as instructions. */
export type ProjectTexts = {
  readonly instructions: ProjectInstructions;
  /** The section of the config file of the project; absent if there is none. */
  readonly configSection: string | undefined;
  readonly skills: readonly Skill[];
  readonly commands: readonly UserCommand[];
  /** Whether the user was not asked about a change that does not count. */
  readonly isPending: boolean;
  /** What is not used, one sentence each. */
  readonly problems: readonly string[];
};

/** The options of `loadProjectTexts`. */
export type ProjectTextOptions = Pick<InstructionReviewOptions, 'accept' | 'asksAgain'> & {
  readonly settings: Pick<Settings, 'dirs' | 'projectInstructions'>;
  readonly location: ProjectLocation;
  /** More directories of skills; false for no skills. */
  readonly skillDirs: readonly string[] | false;
};

/** Reads the instructions, skills and commands of a working directory. Of the project's, the text that counts is returned. */
export async function loadProjectTexts({
  settings: { dirs, projectInstructions: config },
  location,
  skillDirs,
  ...options
}: ProjectTextOptions): Promise<ProjectTexts> {
  const { cwd } = location;
  const files = findInstructions(location);
  const [found, { commands, problems }] = await Promise.all([
    skillDirs === false ? { skills: [], problems: [] } : findSkills(location, skillDirs),
    findUserCommands(location),
  ]);
  const texts = new Map<object, InstructionText>();
  for (const each of files)
    // CLAUDE.md replaces AGENTS.md, so they have one name.
    if (each.scope === 'project')
      texts.set(each, { file: each.path, folder: path.dirname(each.path), name: 'AGENTS.md', text: each.text });
  if (config) texts.set(config, toResourceText(config.file, config.text));
  for (const each of commands) if (each.scope === 'project') texts.set(each, toResourceText(each.file, each.body));
  for (const each of found.skills)
    if (each.text !== undefined) texts.set(each, toResourceText(path.join(each.folder, 'SKILL.md'), each.text));
  const review = await reviewInstructions([...texts.values()], {
    ...options,
    stateDir: dirs.state,
    cwd,
    sessionFolders: [...new Set([cwd, findRepositoryRoot(cwd) ?? cwd])],
  });
  const getEarlier = (each: object): string | undefined => {
    const text = texts.get(each);
    return text && review.earlier.get(text);
  };
  const instructions = joinInstructions(
    files.map((each) => {
      const text = getEarlier(each);
      return text === undefined ? each : { ...each, text, size: Buffer.byteLength(text), cut: false };
    }),
  );
  const unaccepted = files.filter((each) => getEarlier(each) !== undefined);
  const configText = config && (getEarlier(config) ?? config.text);
  const skills = await Promise.all(
    found.skills.map(async (each) => {
      const text = getEarlier(each);
      return text === undefined ? each : parseSkill(text, each);
    }),
  );
  return {
    instructions: { ...instructions, unacceptedText: unaccepted.map(({ text }) => text).join('\n') },
    configSection: config && configText ? formatProjectInstructions(config.file, configText) : undefined,
    skills: skills.filter((each) => 'name' in each),
    commands: commands.flatMap((each) => {
      const body = getEarlier(each) ?? each.body;
      return body === '' ? [] : [{ ...each, body }];
    }),
    isPending: review.isPending,
    problems: [
      ...[...instructions.problems, ...found.problems, ...problems].map((each) => `${each.path}: ${each.why}`),
      ...review.problems,
    ],
  };
}

/** A file in a directory such as `.fairlead`, which is in a directory of the project. */
function toResourceText(file: string, text: string): InstructionText {
  const end = file.lastIndexOf(`${path.sep}.`);
  return { file, folder: file.slice(0, end) || path.sep, name: file.slice(end + 1), text };
}
