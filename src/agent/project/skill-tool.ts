// The tool through which a model reads a skill that it was told the name of.
import path from 'node:path';
import { output, outsideText, type Output, type Tool } from '../../core/index.ts';
import { defineTool } from '../define-tool.ts';
import { splitFront } from './frontmatter.ts';
import { filesUnder, leadsOut } from './shelves.ts';
import type { Skill } from './skills.ts';
import { readText } from './text-file.ts';

const mostBody = 65_536;
const mostFiles = 100;
const deepest = 4;

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
      return skill ? open(skill, file) : output({ failed: true, text: unknown(name, [...byName.keys()]) });
    },
  });
}

/** What a skill links to elsewhere is not part of it. */
function open(skill: Skill, name: string): Output {
  const file = path.resolve(skill.folder, name);
  const main = file === path.resolve(skill.folder, 'SKILL.md');
  const inside = main ? skill : { inside: skill.folder };
  const read = leadsOut(inside, file) ?? readText(file, mostBody);
  if ('why' in read) return output({ failed: true, text: `The file ${name} of the skill ${skill.name} ${read.why}.` });
  const words = `${main ? splitFront(read.text).body.trim() : read.text}${read.cut ? `\n[cut here: the file is longer than ${mostBody} bytes]` : ''}`;
  const text = skill.scope === 'project' ? outsideText(file, words) : words;
  return output({ text: main ? [introduction(skill), text, ...listOf(skill.folder)].join('\n\n') : text });
}

const introduction = ({ name, folder }: Skill): string =>
  `The skill ${name} lies in ${folder}; paths in it are relative to that folder.`;

function listOf(folder: string): readonly string[] {
  const files = filesOf(folder);
  return files.length ? [`Files beside it:\n${files.join('\n')}`] : [];
}

const unknown = (name: string, names: readonly string[]): string =>
  `There is no skill called ${JSON.stringify(name.slice(0, 80))}. ${names.length ? `There are: ${names.join(', ')}.` : 'There are none.'}`;

/** The files of a skill's folder; links are left out, for they may lead anywhere. */
function filesOf(folder: string): readonly string[] {
  const found = filesUnder(folder, deepest, mostFiles + 2).filter(({ name, link }) => name !== 'SKILL.md' && !link);
  const names = found.map(({ name }) => name);
  return names.length > mostFiles ? [...names.slice(0, mostFiles), '[and more]'] : names;
}
