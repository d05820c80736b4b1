declare module 'wink-bm25-text-search' {
  interface Engine {
    defineConfig(config: { fldWeights: Record<string, number> }): void
    definePrepTasks(tasks: ReadonlyArray<(text: string) => string[]>): void
    addDoc(document: Record<string, string>, id: number): void
    consolidate(): void
    search(query: string, limit: number): Array<[id: string | number, score: number]>
  }
  export default function bm25(): Engine
}
