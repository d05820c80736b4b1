/** Nearest node in the direction of an arrow key. */
const DIRECTIONS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

export function nextTo(
  positions: ReadonlyMap<string, { x: number; y: number }>,
  from: string,
  key: string,
): string | undefined {
  const direction = DIRECTIONS[key]
  const here = positions.get(from)
  if (!direction || !here) return undefined
  const [dx, dy] = direction
  let best: { id: string; far: number } | undefined
  for (const [id, position] of positions) {
    const along = (position.x - here.x) * dx + (position.y - here.y) * dy
    if (id === from || along <= 0) continue
    // Sideways distance counts double.
    const aside = Math.abs((position.x - here.x) * dy) + Math.abs((position.y - here.y) * dx)
    const far = along + 2 * aside
    if (!best || far < best.far) best = { id, far }
  }
  return best?.id
}
