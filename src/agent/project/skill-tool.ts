// The tool through which a model reads a skill that it was told the name of.
import path from 'node:path';
import { output, type Tool } from '../../core/index.ts';
import { defineTool } from '../define-tool.ts';
import { splitFront } from './frontmatter.ts';
import { outsideText } from './outside-text.ts';
import { filesUnder, leadsOut } from './shelves.ts';
import type { Skill } from './skills.ts';
import { readText } from './text-file.ts';

const mostBody = 65_536;
const mostFiles = 100;
const deepest = 4;

/** A tool that gives what a skill says and which files lie beside it. */
export function skillTool(skills: readonly Skill[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return defineTool({
    name: 'load_skill',
    description: 'Gives the instructions of a skill, by its name, and lists the files that belong to it.',
    effect: 'read',
    input: {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    },
    run(input) {
      const { name } = input as { readonly name: string };
      const skill = byName.get(name);
      if (!skill) return output({ failed: true, text: unknown(name, [...byName.keys()]) });
      const file = path.join(skill.folder, 'SKILL.md');
      const read = leadsOut(skill, file) ?? readText(file, mostBody);
      if ('why' in read) return output({ failed: true, text: `The file of the skill ${name} ${read.why}.` });
      return output({ text: told(skill, splitFront(read.text).body.trim(), read.cut) });
    },
  });
}

function told(skill: Skill, body: string, cut: boolean): string {
  const words = cut ? `${body}\n[cut here: the file is longer than ${mostBody} bytes]` : body;
  const files = filesOf(skill.folder);
  return [
    `The skill ${skill.name} lies in ${skill.folder}; paths in it are relative to that folder.`,
    skill.scope === 'project' ? outsideText(path.join(skill.folder, 'SKILL.md'), words) : words,
    ...(files.length ? [`Files beside it:\n${files.join('\n')}`] : []),
  ].join('\n\n');
}

const unknown = (name: string, names: readonly string[]): string =>
  `There is no skill called ${JSON.stringify(name.slice(0, 80))}. ${names.length ? `There are: ${names.join(', ')}.` : 'There are none.'}`;

/** The files of a skill's folder; links are left out, for they may lead anywhere. */
function filesOf(folder: string): readonly string[] {
  const found = filesUnder(folder, deepest, mostFiles + 2).filter(({ name, link }) => name !== 'SKILL.md' && !link);
  const names = found.map(({ name }) => name);
  return names.length > mostFiles ? [...names.slice(0, mostFiles), '[and more]'] : names;
}
