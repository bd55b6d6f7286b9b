export const sortByAge = (people) => people.toSorted((a, b) => a.age - b.age);
