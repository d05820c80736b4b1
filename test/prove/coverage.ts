/** V8's precise coverage of this process, read synchronously. */
import { Session } from 'node:inspector'

export interface CoveredFile {
  url: string
  functions: Array<{ functionName: string; ranges: Array<{ count: number }> }>
}

/** Starts counting. The returned function reports the counts since its last call; `detailed` counts blocks too. */
export function startCoverage(detailed: boolean): () => CoveredFile[] {
  const session = new Session()
  session.connect()
  const post = (method: string, params?: object): unknown => {
    let answer: unknown
    session.post(method, params, (error, result) => {
      if (error) throw error
      answer = result
    })
    return answer
  }
  post('Profiler.enable')
  post('Profiler.startPreciseCoverage', { callCount: true, detailed })
  return () => (post('Profiler.takePreciseCoverage') as { result: CoveredFile[] }).result
}
