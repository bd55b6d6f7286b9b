export const parseRow = (line) => line.split(',');
