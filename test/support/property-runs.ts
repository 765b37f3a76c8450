// How often a property is tried: as often as it says in `npm test`, many times as often in `npm run test:full`, or where
// PROPERTY_RUNS_FACTOR asks for more.

export const runs = (count: number): number => count * Number(process.env.PROPERTY_RUNS_FACTOR ?? 1);
