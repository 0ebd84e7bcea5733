import { parseAllDocuments } from 'yaml';

/** Parts of a container in the manifests of `deploy/k8s` that the tests check. */
export interface KubernetesContainer {
  readonly args: readonly string[];
  readonly image: string;
  readonly env: readonly {
    readonly name: string;
    readonly valueFrom: { readonly secretKeyRef: { readonly key: string; readonly optional?: boolean } };
  }[];
  readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe?: KubernetesProbe;
  readonly livenessProbe?: KubernetesProbe;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly securityContext: object;
  readonly volumeMounts: readonly object[];
}
interface KubernetesProbe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

export interface KubernetesPod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly initContainers?: readonly KubernetesContainer[];
    readonly containers: readonly [KubernetesContainer];
    readonly securityContext: object;
    readonly terminationGracePeriodSeconds?: number;
  };
}

export interface KubernetesResource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly progressDeadlineSeconds?: number;
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, unknown>>;
    readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly ingress?: readonly {
      readonly from?: readonly { readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> } }[];
      readonly ports: readonly { readonly port: number }[];
    }[];
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
    readonly template?: KubernetesPod;
  };
}

export function parseKubernetesManifests(text: string): readonly KubernetesResource[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubernetesResource);
}

/**
 * Applies a patch to a resource like kustomize: values of the resource take precedence, and lists of named items are
 * merged.
 */
export function applyKustomizePatch<T>(resource: T, patch: unknown): T {
  if (resource === undefined) return patch as T;
  if (Array.isArray(resource) && Array.isArray(patch)) return mergeNamedItemLists(resource, patch) as T;
  if (!isRecord(resource) || !isRecord(patch)) return resource;
  const names = new Set([...Object.keys(patch), ...Object.keys(resource)]);
  return Object.fromEntries([...names].map((name) => [name, applyKustomizePatch(resource[name], patch[name])])) as T;
}

function mergeNamedItemLists(own: readonly unknown[], patch: readonly unknown[]): readonly unknown[] {
  const nameOf = (value: unknown) => (isRecord(value) ? value['name'] : undefined);
  const both = own.map((each) =>
    applyKustomizePatch(
      each,
      patch.find((other) => nameOf(other) === nameOf(each)),
    ),
  );
  const names = new Set(own.map(nameOf));
  return [...both, ...patch.filter((other) => !names.has(nameOf(other)))];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
