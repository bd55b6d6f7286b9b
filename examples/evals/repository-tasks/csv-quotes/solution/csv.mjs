export function parseRow(line) {
  const fields = [''];
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const at = fields.length - 1;
    if (line[i] === '"' && quoted && line[i + 1] === '"') fields[at] += line[++i];
    else if (line[i] === '"') quoted = !quoted;
    else if (line[i] === ',' && !quoted) fields.push('');
    else fields[at] += line[i];
  }
  return fields;
}
