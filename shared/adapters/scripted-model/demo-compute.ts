// A clause answered from tables: figures, groups, rankings, lists, look-ups and comparisons. All words of an answer but its frame
// come from the tables.

import {
  type Asked,
  describeRow,
  figuresPerGroup,
  listValues,
  NAMES,
  noFigures,
  plainFigures,
  type Result,
  show,
} from './demo-figures.ts';
import { type Clause, filtersOf, type Mention, mentionsOf } from './demo-question.ts';
import {
  formatNumber,
  groupBy,
  isIdentifier,
  isNumeric,
  numbers,
  type Operation,
  reduceNumbers,
  type Table,
} from './demo-table.ts';

const MEASURES_MAX = 6;

/** null where the clause asks nothing of this table. */
export function computeClause(clause: Clause, whole: Table): Result | null {
  const asked = readAsked(clause, whole);
  if (clause.asks.has('mode')) return rankByCount(asked);
  if (asked.extreme !== undefined)
    return asked.label === undefined ? extremeRow(asked) : rankGroups(asked, asked.label);
  if (asked.group !== undefined) return figuresPerGroup(asked, asked.group);
  if (asked.operations.length > 0) return plainFigures(asked);
  const selects = asked.where !== '' && asked.mentions.length > 0;
  if (selects || (clause.asks.has('list') && asked.mentions.length > 0)) return listValues(asked);
  return null;
}

function readAsked(clause: Clause, whole: Table): Asked {
  const filters = filtersOf(whole, clause.text);
  const keeps = filters.map((f) => ({ at: whole.columns.indexOf(f.column), keeps: f.keeps }));
  const rows = whole.rows.filter((row) => keeps.every((f) => f.keeps(row[f.at] ?? '')));
  const table = { ...whole, rows };
  const mentions = mentionsOf(whole, clause.text);
  const isMeasure = (m: Mention) => m.place !== 'group' && isNumeric(whole, m.column) && !isIdentifier(m.column);
  const label = mentions.find((m) => m.place === 'label' && !isMeasure(m)) ?? mentions.find((m) => m.place === 'label');
  const split = filters.find((f) => f.words.includes(' or '))?.column;
  const group = mentions.find((m) => m.place === 'group')?.column ?? split;
  const named = mentions.filter((m) => isMeasure(m) && m !== label).map((m) => m.column);
  const numeric = whole.columns.filter((c) => isNumeric(whole, c) && !isIdentifier(c));
  const operations = clause.operations.filter((o) => o !== 'max' && o !== 'min');
  const needsMeasure = clause.operations.some(
    (o) => o !== 'count' && (label === undefined || (o !== 'max' && o !== 'min')),
  );
  return {
    clause,
    table,
    where: filters.length === 0 ? '' : `, where ${filters.map((f) => f.words).join(' and ')}`,
    group,
    label: label?.column ?? (clause.operations.length > 0 ? undefined : group),
    measures: named.length > 0 ? named : needsMeasure ? numeric.slice(0, MEASURES_MAX) : [],
    mentions,
    operations,
    extreme: clause.operations.find((o) => o === 'max' || o === 'min'),
  };
}

function rankByCount({ table, label, group, mentions, where }: Asked): Result | null {
  const column = label ?? group ?? mentions[0]?.column;
  if (column === undefined) return null;
  const counts = [...groupBy(table, column)].map(([value, { rows }]) => [value, rows.length] as const);
  const ranked = counts.toSorted((a, b) => b[1] - a[1]);
  const most = ranked[0]?.[1] ?? 0;
  const first = ranked.filter(([, n]) => n === most).map(([value]) => value);
  const verb = first.length > 1 ? 'occur' : 'occurs';
  return {
    lines: [
      `In ${column} of ${table.name}, ${first.join(', ')} ${verb} most often: ${most} of ${table.rows.length} rows${where}.`,
    ],
    columns: [column, 'count'],
    rows: ranked.map(([value, n]) => [value, String(n)]),
    top: first[0] === undefined ? null : { column, value: first[0] },
    table,
  };
}

/** `which region has the highest total amount`. */
function rankGroups(asked: Asked, label: string): Result {
  const { table, measures, operations, extreme, where } = asked;
  const groups = groupBy(table, label);
  const [measure] = measures;
  const repeats = groups.size < table.rows.length;
  const operation: Operation = measure === undefined ? 'count' : (operations.find((o) => o !== 'count') ?? 'sum');
  const what = measure === undefined ? 'number of rows' : `${repeats ? `${NAMES[operation]} ` : ''}${measure}`;
  const ranked = [...groups]
    .map(
      ([value, part]) =>
        [value, measure === undefined ? part.rows.length : reduceNumbers(numbers(part, measure), operation)] as const,
    )
    .filter((entry): entry is readonly [string, number] => entry[1] !== null)
    .toSorted((a, b) => (extreme === 'min' ? a[1] - b[1] : b[1] - a[1]));
  const [best] = ranked;
  const word = extreme === 'min' ? 'lowest' : 'highest';
  const ties = ranked.filter(([, n]) => n === best?.[1]).map(([value]) => value);
  const line =
    best === undefined
      ? `${table.name} has no figures for ${what}${where}.`
      : `${ties.slice(0, 10).join(', ')} ${ties.length > 1 ? 'have' : 'has'} the ${word} ${what}: ${show(best[1], operation)}${where}.`;
  return {
    lines: [line],
    columns: [label, measure === undefined ? 'count' : `${repeats ? `${NAMES[operation]} ` : ''}${measure}`],
    rows: ranked.map(([value, n]) => [value, show(n, operation)]),
    top: best === undefined ? null : { column: label, value: best[0] },
    table,
  };
}

function extremeRow(asked: Asked): Result | null {
  const { table, extreme, where, operations, group } = asked;
  if (group !== undefined) return figuresPerGroup({ ...asked, operations: [...operations, extreme ?? 'max'] }, group);
  const [measure] = asked.measures;
  if (measure === undefined) return null;
  const best = reduceNumbers(numbers(table, measure), extreme ?? 'max');
  if (best === null) return noFigures(asked, measure);
  const rows = table.rows.filter((_, i) => numbers({ ...table, rows: [table.rows[i] ?? []] }, measure)[0] === best);
  const row = rows[0] ?? [];
  const others = plainFigures({ ...asked, operations });
  const line = `The ${NAMES[extreme ?? 'max']} ${measure} is ${formatNumber(best)}${where}: ${describeRow(table, row)}.`;
  const [column = measure] = table.columns;
  return {
    lines: [line, ...(operations.length > 0 ? (others?.lines ?? []) : [])],
    columns: table.columns,
    rows,
    top: { column, value: row[0] ?? '' },
    table,
  };
}
