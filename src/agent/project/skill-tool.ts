// The tool through which a model reads a skill that it was told the name of.
import { readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { output, type Tool } from '../../core/index.ts';
import { defineTool } from '../define-tool.ts';
import { splitFront } from './frontmatter.ts';
import { outsideText } from './outside-text.ts';
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
      const read = readText(path.join(skill.folder, 'SKILL.md'), mostBody);
      if ('wrong' in read) return output({ failed: true, text: `The file of the skill ${name} ${read.why}.` });
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

/** The files of a folder, links not followed, at most a hundred of them. */
function filesOf(folder: string): readonly string[] {
  const found: string[] = [];
  const visit = (at: string, depth: number): void => {
    for (const each of entries(path.join(folder, at))) {
      const name = path.posix.join(at, each.name);
      if (found.length > mostFiles) return;
      if (each.isDirectory() && depth < deepest && each.name !== 'node_modules' && each.name !== '.git')
        visit(name, depth + 1);
      else if (each.isFile() && name !== 'SKILL.md') found.push(name);
    }
  };
  visit('', 0);
  return found.length > mostFiles ? [...found.slice(0, mostFiles), '[and more]'] : found;
}

function entries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
