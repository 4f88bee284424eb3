package level3
import ("testing";"fmt";"os";"time")
func TestDbg(t *testing.T){ if os.Getenv("DBG")=="" {t.Skip()}
 impl:=Available()[0]
 for _,n:=range []int{500,1000,2000} {
  g:=make([]float64,n*n); out:=make([]float64,n*n); def:=make([]float64,n*n)
  for i:=range g {g[i]=float64((i*7919)%1000)/1000-0.5}
  for i:=range n {def[i*n+i]=float64(n)}
  for i:=range def { def[i]+=g[i]*0.1 }
  best:=time.Hour; line:=""
  for range 40 { copyLower(out,def,n); DIdle,DPar,DN,DEnter=0,0,0,0; t0:=time.Now(); impl.Cholesky('L',n,out,n); d:=time.Since(t0); if d<best {best=d; line=fmt.Sprintf("n=%d total %v par %v idle %v phases %d entered %d serial %v",n,d,DPar,DIdle,DN,DEnter,d-DPar)}}
  fmt.Println(line)
  best=time.Hour
  for range 40 { copyLower(out,def,n); impl.Cholesky('L',n,out,n); DIdle,DPar,DN,DEnter=0,0,0,0; t0:=time.Now(); impl.CholeskyInverse('L',n,out,n); d:=time.Since(t0); if d<best {best=d; line=fmt.Sprintf("inv n=%d total %v par %v idle %v phases %d entered %d serial %v",n,d,DPar,DIdle,DN,DEnter,d-DPar)}}
  fmt.Println(line)
 }}
