/** Placeholder while the wiring moves. */
export { createServices as createHost, type HostServices as Host } from './create-services.ts'
