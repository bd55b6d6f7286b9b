// The tool load_skill: returns the instructions and files of a skill.
import path from 'node:path';
import { toolOutput, wrapUntrusted, type ToolOutput, type Tool } from '../../core/index.ts';
import { tool } from '../define-tool.ts';
import { splitFrontmatter } from './frontmatter.ts';
import { collectFiles, boundaryError } from './search-dirs.ts';
import type { Skill } from './skills.ts';
import { readTextFile } from './text-file.ts';

const maxBodyBytes = 65_536;
const maxListedFiles = 100;
const maxDepth = 4;

/** A tool that returns the instructions of a skill, or a file in its directory. */
export function skillTool(skills: readonly Skill[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return tool({
    name: 'load_skill',
    description: 'Gives the instructions of a skill and lists its files; with file, gives that file of it.',
    effect: 'read',
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, file: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    },
    execute({ name, file = 'SKILL.md' }) {
      const skill = byName.get(name);
      return skill
        ? openSkillFile(skill, file)
        : toolOutput({ failed: true, text: unknownSkillText(name, [...byName.keys()]) });
    },
  });
}

/** Reads a file of a skill. Links that leave the directory of the skill are refused. */
function openSkillFile(skill: Skill, name: string): ToolOutput {
  const file = path.resolve(skill.folder, name);
  const main = file === path.resolve(skill.folder, 'SKILL.md');
  const origin = main ? skill : { boundary: skill.folder };
  const read =
    main && skill.text !== undefined
      ? { text: skill.text, cut: false }
      : (boundaryError(origin, file) ?? readTextFile(file, maxBodyBytes));
  if ('why' in read)
    return toolOutput({ failed: true, text: `The file ${name} of the skill ${skill.name} ${read.why}.` });
  const content = `${main ? splitFrontmatter(read.text).body.trim() : read.text}${read.cut ? `\n[cut here: the file is longer than ${maxBodyBytes} bytes]` : ''}`;
  const text = skill.scope === 'project' ? wrapUntrusted(file, content) : content;
  return toolOutput({
    text: main ? [skillIntroduction(skill), text, ...skillFileList(skill.folder)].join('\n\n') : text,
  });
}

const skillIntroduction = ({ name, folder }: Skill): string =>
  `The skill ${name} is in ${folder}; its paths are relative to that folder.`;

function skillFileList(folder: string): readonly string[] {
  const files = skillFiles(folder);
  return files.length ? [`Files beside it:\n${files.join('\n')}`] : [];
}

const unknownSkillText = (name: string, names: readonly string[]): string =>
  `There is no skill called ${JSON.stringify(name.slice(0, 80))}. ${names.length ? `There are: ${names.join(', ')}.` : 'There are none.'}`;

/** The files of a skill without links, which may lead anywhere. */
function skillFiles(folder: string): readonly string[] {
  const found = collectFiles(folder, maxDepth, maxListedFiles + 2).filter(
    ({ name, link }) => name !== 'SKILL.md' && !link,
  );
  const names = found.map(({ name }) => name);
  return names.length > maxListedFiles ? [...names.slice(0, maxListedFiles), '[and more]'] : names;
}
