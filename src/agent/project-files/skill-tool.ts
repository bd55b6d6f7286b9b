// The tool through which a model reads a skill that it was told the name of.
import path from 'node:path';
import { toolOutput, wrapUntrusted, type ToolOutput, type Tool } from '../../core/index.ts';
import { defineTool } from '../define-tool.ts';
import { splitFrontmatter } from './frontmatter.ts';
import { collectFiles, boundaryError } from './search-dirs.ts';
import type { Skill } from './skills.ts';
import { readTextFile } from './text-file.ts';

const maxBodyBytes = 65_536;
const maxListedFiles = 100;
const maxDepth = 4;

/** A tool that gives what a skill says, and the text of the files that lie beside it. */
export function skillTool(skills: readonly Skill[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return defineTool({
    name: 'load_skill',
    description: 'Gives the instructions of a skill and lists its files; with file, gives that file of it.',
    effect: 'read',
    input: {
      type: 'object',
      properties: { name: { type: 'string' }, file: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    },
    run(input) {
      const { name, file = 'SKILL.md' } = input as { readonly name: string; readonly file?: string };
      const skill = byName.get(name);
      return skill
        ? openSkillFile(skill, file)
        : toolOutput({ failed: true, text: unknownSkillText(name, [...byName.keys()]) });
    },
  });
}

/** What a skill links to elsewhere is not part of it. */
function openSkillFile(skill: Skill, name: string): ToolOutput {
  const file = path.resolve(skill.folder, name);
  const main = file === path.resolve(skill.folder, 'SKILL.md');
  const inside = main ? skill : { inside: skill.folder };
  const read = boundaryError(inside, file) ?? readTextFile(file, maxBodyBytes);
  if ('why' in read)
    return toolOutput({ failed: true, text: `The file ${name} of the skill ${skill.name} ${read.why}.` });
  const words = `${main ? splitFrontmatter(read.text).body.trim() : read.text}${read.cut ? `\n[cut here: the file is longer than ${maxBodyBytes} bytes]` : ''}`;
  const text = skill.scope === 'project' ? wrapUntrusted(file, words) : words;
  return toolOutput({
    text: main ? [skillIntroduction(skill), text, ...skillFileList(skill.folder)].join('\n\n') : text,
  });
}

const skillIntroduction = ({ name, folder }: Skill): string =>
  `The skill ${name} lies in ${folder}; paths in it are relative to that folder.`;

function skillFileList(folder: string): readonly string[] {
  const files = skillFiles(folder);
  return files.length ? [`Files beside it:\n${files.join('\n')}`] : [];
}

const unknownSkillText = (name: string, names: readonly string[]): string =>
  `There is no skill called ${JSON.stringify(name.slice(0, 80))}. ${names.length ? `There are: ${names.join(', ')}.` : 'There are none.'}`;

/** The files of a skill's folder; links are left out, for they may lead anywhere. */
function skillFiles(folder: string): readonly string[] {
  const found = collectFiles(folder, maxDepth, maxListedFiles + 2).filter(
    ({ name, link }) => name !== 'SKILL.md' && !link,
  );
  const names = found.map(({ name }) => name);
  return names.length > maxListedFiles ? [...names.slice(0, maxListedFiles), '[and more]'] : names;
}
