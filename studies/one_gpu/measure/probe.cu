// Which SMs share a GPC, how many clusters of each size fit at once, and blocks that hold SMs without touching memory.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t e = (call);                                                                \
    if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); } \
  } while (0)

__global__ void where(int* sm, long long wait) {
  extern __shared__ char held[];
  int id;
  asm volatile("mov.u32 %0, %smid;" : "=r"(id));
  if (threadIdx.x == 0) sm[blockIdx.x] = id;
  held[threadIdx.x] = 1;
  const long long begin = clock64();
  while (clock64() - begin < wait) {}
}

int main() {
  const int bytes = 200 * 1024;
  CHECK(cudaFuncSetAttribute(where, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  CHECK(cudaFuncSetAttribute(where, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  int* sm;
  CHECK(cudaMalloc(&sm, 4096 * sizeof(int)));
  for (int size : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16}) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(size * 64);
    config.blockDim = dim3(128);
    config.dynamicSmemBytes = bytes;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = size;
    attribute[0].val.clusterDim.y = 1;
    attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    int clusters = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, where, &config));
    std::printf("clusters of %d: %d at once\n", size, clusters);
    if (clusters < 1) continue;
    config.gridDim = dim3(size * clusters);
    CHECK(cudaLaunchKernelEx(&config, where, sm, 2000000LL));
    CHECK(cudaDeviceSynchronize());
    std::vector<int> ids(size * clusters);
    CHECK(cudaMemcpy(ids.data(), sm, ids.size() * sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("  SMs:");
    for (int i = 0; i < int(ids.size()); ++i) std::printf("%s%d", i % size ? "," : " ", ids[i]);
    std::printf("\n");
  }
  return 0;
}
