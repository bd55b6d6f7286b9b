// The texts of a project that a model reads as instructions: AGENTS.md files, the instructions of its config file, commands and skills.
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  findInstructions,
  joinInstructions,
  type FoundInstructions,
  type Instructions,
  type ProjectLocation,
  type Skill,
  type UserCommand,
} from '../../agent/index.ts';
import { findRepositoryRoot, getCommandDirs, getSkillDirs } from '../../agent/project-files/index.ts';
import type { Tool } from '../../core/index.ts';
import { formatProjectInstructions, type Settings } from '../settings/index.ts';
import type { InstructionText } from './counted-texts.ts';
import { reviewInstructions, type InstructionReviewOptions } from './review.ts';

/** The instructions of a project that count. */
export type ProjectInstructions = Instructions & {
  /** What does not count yet; it cannot instruct, but it can demand privacy. */
  readonly unacceptedText: string;
};

/** The skills and commands of the user and of the project. */
export type ProjectResources = {
  readonly skills: readonly Skill[];
  /** The list of skills for the system prompt, and the tool that loads one. */
  readonly skillSection: string;
  readonly skillTools: readonly Tool[];
  readonly commands: readonly UserCommand[];
};

/** Everything of a project that a model reads as instructions. */
export type ProjectTexts = {
  readonly instructions: ProjectInstructions;
  /** The section of the config file of the project; absent if there is none. */
  readonly configSection: string | undefined;
  readonly resources: ProjectResources;
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
  const files = findInstructions(location).map((found) => ({ found, text: toInstructionText(found) }));
  const folders = [...(skillDirs === false ? [] : getSkillDirs(location)), ...getCommandDirs(location)];
  const found =
    (skillDirs !== false && skillDirs.length > 0) || folders.some(({ folder }) => existsSync(folder))
      ? await (await import('./project-resources.ts')).findResources(location, skillDirs)
      : undefined;
  const configText = config && toResourceText(config.file, config.text);
  const { earlier, ...review } = await reviewInstructions(
    [...files.flatMap(({ text }) => text ?? []), ...(configText ? [configText] : []), ...(found?.texts ?? [])],
    {
      ...options,
      stateDir: dirs.state,
      cwd,
      sessionFolders: [...new Set([cwd, findRepositoryRoot(cwd) ?? cwd])],
    },
  );
  const getEarlier = (text: InstructionText | undefined): string | undefined => text && earlier.get(text);
  const instructions = joinInstructions(
    files.map((each) => {
      const text = getEarlier(each.text);
      return text === undefined ? each.found : { ...each.found, text, size: Buffer.byteLength(text), cut: false };
    }),
  );
  const unaccepted = files.flatMap(({ text }) => (getEarlier(text) === undefined ? [] : (text?.text ?? [])));
  const section = configText && (getEarlier(configText) ?? configText.text);
  return {
    instructions: { ...instructions, unacceptedText: unaccepted.join('\n') },
    configSection: config && section ? formatProjectInstructions(config.file, section) : undefined,
    resources: (await found?.resolve(earlier)) ?? noResources,
    isPending: review.isPending,
    problems: [
      ...[...instructions.problems, ...(found?.problems ?? [])].map((each) => `${each.path}: ${each.why}`),
      ...review.problems,
    ],
  };
}

const noResources: ProjectResources = { skills: [], skillSection: '', skillTools: [], commands: [] };

/** The text of a file of the project. CLAUDE.md replaces AGENTS.md, so both have one name. */
const toInstructionText = ({ path: file, scope, text }: FoundInstructions): InstructionText | undefined =>
  scope === 'project' ? { file, folder: path.dirname(file), name: 'AGENTS.md', text } : undefined;

/** The text of a file in a directory such as `.fairlead`, which is in a directory of the project. */
export function toResourceText(file: string, text: string): InstructionText {
  const end = file.lastIndexOf(`${path.sep}.`);
  return { file, folder: file.slice(0, end) || path.sep, name: file.slice(end + 1), text };
}
