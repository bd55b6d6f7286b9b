export const sum = (list) => list.reduce((total, each) => total + each, 0);
